import KalijXML

/// The place in an archive of a quarantined stanza. Each reading returns the stanza again, in another wrapper.
package struct ArchivedOrigin {
    /// The archive, as ``Archive/key``.
    package let archive: String
    /// The archive's id of the stanza.
    package let id: String
    /// The sender of the stanza, if it can be parsed.
    package let author: String?

    /// Parses a whole stanza; nil if it is not a result of an archive.
    package init?(_ stanza: Element, in step: Step) {
        guard let result = ArchiveResult.element(in: stanza), let id = result["id"] else { return nil }
        archive = ArchiveResult.archive(of: stanza, to: step.account.jid).key
        self.id = id
        author = result.child("forwarded", "urn:xmpp:forward:0")?.child("message", "jabber:client")?["from"]
    }

    /// Parses the first bytes of a stanza.
    package init?(beginning bytes: [UInt8], in step: Step) {
        let wrapper = Self.opened(["message", "result"], in: bytes)
        let message = Self.opened(["message", "result", "forwarded", "message"], in: bytes)
        guard let stanza = message ?? wrapper else { return nil }
        self.init(stanza, in: step)
    }

    /// The tree up to the place where elements of these names are open, each within the preceding one. Each `>` may be that place: the
    /// parser receives the bytes up to there and the end tags, and accepts them or not.
    private static func opened(_ names: [String], in bytes: [UInt8]) -> Element? {
        let ends = names.reversed().map { "</\($0)>" }.joined().utf8
        let begin = bytes.prefix(8192)
        let places = begin.indices.lazy.filter { begin[$0] == UInt8(ascii: ">") }.prefix(20)
        return places.lazy.compactMap { try? Element.parse(Array(begin[...$0]) + ends) }.first
    }
}
