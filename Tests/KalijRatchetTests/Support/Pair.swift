@testable import KalijRatchet

/// Two devices with a session, each with its kept keys.
struct Device {
    let dialect: OMEMOVersion
    let identity: Identity
    let signedPrekey: KeyPair
    let prekey: KeyPair
    var session: Session?
    var kept: [Session.SkippedKey.Name: Secret] = [:]

    init(_ dialect: OMEMOVersion) throws {
        self.dialect = dialect
        (identity, signedPrekey, prekey) = (try .make(), try .make(), try .make())
    }

    var bundle: Bundle {
        get throws {
            try Bundle(
                dialect, identity: dialect.encode(identity.publicIdentity),
                signedPrekey: (7, dialect.encode(signedPrekey.key)),
                signature: identity.sign(signedPrekey.key, dialect),
                prekey: (8, dialect.encode(prekey.key)))
        }
    }

    mutating func begin(with other: Device) throws { session = try Session.begin(identity, other.bundle, dialect) }

    mutating func send(_ text: String) throws -> Sealed {
        guard var session else { throw RatchetError.keyGone }
        defer { self.session = session }
        let (bytes, isExchange) = try session.seal(Secret(Self.content(text)))
        return Sealed(text: text, bytes: bytes, isExchange: isExchange)
    }

    /// - Returns: how many keys were kept.
    @discardableResult
    mutating func receive(_ sealed: Sealed) throws -> Int {
        let opened = try open(sealed.bytes, isExchange: sealed.isExchange)
        session = opened.session
        if let used = opened.used { kept[used] = nil }
        for key in opened.skipped { kept[key.name] = key.messageKey }
        guard opened.content.exported == Self.content(sealed.text) else { throw RatchetError.malformed("another text") }
        return opened.skipped.count
    }

    func open(_ bytes: [UInt8], isExchange: Bool) throws -> Session.Opened {
        guard isExchange else {
            guard let session else { throw RatchetError.keyGone }
            return try session.open(RatchetMessage(bytes, dialect)) { kept[$0] }
        }
        let exchange = try KeyExchange(bytes, dialect)
        let known = session.flatMap { $0.isOf(exchange) ? $0 : nil }
        let session =
            try known
            ?? Session.accept(exchange, identity, signedPrekey: signedPrekey, prekey: prekey.secret, dialect)
        return try session.open(exchange.message) { kept[$0] }
    }

    private static func content(_ text: String) -> [UInt8] {
        Array((Array(text.utf8) + [UInt8](repeating: 0x2e, count: 32)).prefix(32))
    }

    struct Sealed {
        let text: String
        let bytes: [UInt8]
        let isExchange: Bool
    }

    /// Two devices of which each has read a message of the other.
    static func pair(_ dialect: OMEMOVersion) throws -> (Device, Device) {
        var (juliet, romeo) = (try Device(dialect), try Device(dialect))
        try juliet.begin(with: romeo)
        try romeo.receive(juliet.send("hello"))
        try juliet.receive(romeo.send("hello yourself"))
        return (juliet, romeo)
    }
}
