extension JID {
    /// Reads an address that a person has typed, and prepares its parts.
    ///
    /// The first "/" starts the resource, the first "@" before it ends the local part (RFC 7622, 3.1 and 3.2); one dot
    /// at the end of the domain is dropped. Labels in the form of DNS, `xn--`, become those that are shown (RFC 7622, 3.2.1).
    ///
    /// - Throws: `JIDError`, if a part is empty, too long, or has forbidden characters.
    public init(_ text: String) throws(JIDError) {
        let split = Split(text)
        let (local, domain, resource) = split.parts(of: text)
        let shown = PartPreparation.shown(domain)
        if shown == nil, let ready = JID(ready: text, split) {
            self = ready
        } else {
            try self.init(local: local, domain: shown ?? domain, resource: resource)
        }
    }

    /// An address from a server, or nil if a part cannot be prepared.
    public static func prepared(_ text: String) -> JID? {
        let jid = received(text)
        return jid.isPrepared ? jid : nil
    }

    /// Puts an address together from its parts and prepares them.
    ///
    /// - Throws: `JIDError`, if a part is empty, too long, or has forbidden characters.
    public init(local: String?, domain: String, resource: String?) throws(JIDError) {
        var text = ""
        if let local { text = try PartPreparation.local(local) + "@" }
        let start = text.utf8.count
        text += try PartPreparation.domain(domain)
        let end = text.utf8.count
        if let resource { text += "/" + (try PartPreparation.resource(resource)) }
        self.init(text: text, domainStart: start, domainEnd: end, isPrepared: true)
    }

    /// An address from a server: never fails.
    ///
    /// A text that cannot be prepared is kept unchanged, split by the same rules, and compared as bytes (`isPrepared`
    /// is false): the server decides which addresses exist.
    public static func received(_ text: String) -> JID {
        let split = Split(text)
        if let ready = JID(ready: text, split) { return ready }
        let (local, domain, resource) = split.parts(of: text)
        if let prepared = try? JID(local: local, domain: domain, resource: resource) { return prepared }
        // No stanza is this long; the offsets of such a text would not fit.
        guard text.utf8.count < Int(Int32.max) else {
            return JID(text: "", domainStart: 0, domainEnd: 0, isPrepared: false)
        }
        return JID(
            text: text, domainStart: split.at.map { $0 + 1 } ?? 0, domainEnd: split.slash ?? split.count,
            isPrepared: false)
    }

    /// The fast way: `text` itself, if all parts are ASCII and prepared already.
    private init?(ready text: String, _ split: Split) {
        guard split.isReady else { return nil }
        self.init(
            text: text, domainStart: split.at.map { $0 + 1 } ?? 0, domainEnd: split.slash ?? split.count,
            isPrepared: true)
    }
}

/// The places of the parts of an address, in bytes, and whether the text needs no preparation.
private struct Split {
    var at: Int?
    var slash: Int?
    var count: Int
    var isReady: Bool

    init(_ text: String) {
        // Strings bridged from another language may not be contiguous; none are here, but such strings may exist.
        self =
            text.utf8.withContiguousStorageIfAvailable { Split($0) }
            ?? Array(text.utf8).withUnsafeBufferPointer(Split.init)
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        count = bytes.count
        var index = 0
        while index < bytes.count {
            if bytes[index] == ASCII.slash {
                slash = index
                break
            }
            if bytes[index] == ASCII.at, at == nil { at = index }
            index += 1
        }
        func part(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(rebasing: bytes[range])  // used within this call alone
        }
        let domain = (at.map { $0 + 1 } ?? 0)..<(slash ?? count)
        isReady = ASCII.isReadyDomain(part(domain))
        if let at { isReady = isReady && ASCII.isReady(part(0..<at), ASCII.local) }
        if let slash { isReady = isReady && ASCII.isReady(part((slash + 1)..<count), ASCII.resource) }
    }

    func parts(of text: String) -> (local: String?, domain: String, resource: String?) {
        let bytes = text.utf8
        func part(_ from: Int, _ to: Int) -> String {
            String(text[bytes.index(bytes.startIndex, offsetBy: from)..<bytes.index(bytes.startIndex, offsetBy: to)])
        }
        return (
            at.map { part(0, $0) }, part(at.map { $0 + 1 } ?? 0, slash ?? count), slash.map { part($0 + 1, count) }
        )
    }
}
