import KalijXML

/// Where a stanza that is set aside was in an archive: it is shown again with each reading, in another wrapper.
struct ArchivedOrigin {
    /// Whose archive it is, as ``Archive/key``.
    let archive: String
    /// The id that the archive gave it.
    let id: String
    /// Who wrote it, if that can be read.
    let author: String?

    /// Reads a whole stanza; nil if it is no result of an archive.
    init?(_ stanza: Element, in step: Step) {
        guard let result = stanza.child("result", "urn:xmpp:mam:2"), let id = result["id"] else { return nil }
        archive = ArchiveResults(step: step).archive(of: stanza).key
        self.id = id
        author = result.child("forwarded", "urn:xmpp:forward:0")?.child("message", "jabber:client")?["from"]
    }

    /// Reads the first bytes of a stanza.
    init?(beginning bytes: [UInt8], in step: Step) {
        let wrapper = Self.opened(["message", "result"], in: bytes)
        let message = Self.opened(["message", "result", "forwarded", "message"], in: bytes)
        guard let stanza = message ?? wrapper else { return nil }
        self.init(stanza, in: step)
    }

    /// What is there up to where elements of these names are open, one in another: the parser says whether they are, with
    /// their ends put behind each place where a tag may have ended.
    private static func opened(_ names: [String], in bytes: [UInt8]) -> Element? {
        let ends = names.reversed().map { "</\($0)>" }.joined().utf8
        let begin = bytes.prefix(8192)
        let places = begin.indices.lazy.filter { begin[$0] == UInt8(ascii: ">") }.prefix(20)
        return places.lazy.compactMap { try? Element.parse(Array(begin[...$0]) + ends) }.first
    }
}
