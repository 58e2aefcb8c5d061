import KalijRatchet

/// Everything of OMEMO's cryptography that a stranger can send: key exchanges, messages, bundles, payloads and keys; and rows.
///
/// The first byte gives the format and what the rest is. Checked: nothing traps; what is refused has changed nothing; a message
/// skips at most 1,000 keys, and as many as was said before; what was read in one way is read in the same way again.
func fuzzRatchet(_ input: UnsafeRawBufferPointer) throws {
    var source = ByteSource(input)
    let first = source.byte()
    let (dialect, bytes) = (first & 1 == 0 ? OMEMOVersion.axolotl : .omemo2, Array(input.dropFirst()))
    switch first >> 1 & 7 {
    case 0: try readMessages(bytes, RatchetFixture.all[dialect])
    case 1: try readBundle(bytes, dialect)
    case 2: try readRow(bytes)
    case 3: try readPayload(bytes, dialect)
    case 4: try readKeys(bytes, dialect)
    default: try converse(bytes, dialect)
    }
}

/// Throws only findings: what the ratchet refuses is nil.
private func attempt<Value>(_ body: () throws -> Value) throws -> Value? {
    do { return try body() } catch let error as RatchetError {
        if case .library(let function) = error { throw Finding(description: "libcrypto has failed: \(function)") }
        return nil
    }
}

// MARK: Messages

/// Messages to a device whose keys are known: each with two bytes before, the kind and the length.
private func readMessages(_ bytes: [UInt8], _ fixture: RatchetFixture?) throws {
    guard let fixture else { throw Finding(description: "no fixture") }
    var reader = Reader(fixture.session)
    var rest = bytes[...]
    var count = 0
    while let kind = rest.popFirst(), let low = rest.popFirst(), count < 12 {
        count += 1
        let size = Int(low) | Int(kind >> 1 & 3) << 8
        let part = Array(rest.prefix(size))
        rest = rest.dropFirst(size)
        if kind & 1 == 0 {
            guard let message = try attempt({ try RatchetMessage(part, fixture.dialect) }) else { continue }
            try reader.read(message)
        } else {
            guard let exchange = try attempt({ try KeyExchange(part, fixture.dialect) }) else { continue }
            try fixture.accept(exchange, &reader)
        }
    }
}

/// A session, and the keys that were kept for it.
struct Reader {
    private(set) var session: Session?
    private var kept: [Session.SkippedKey.Name: Secret] = [:]

    init(_ session: Session?) { self.session = session }

    @discardableResult
    mutating func read(_ message: RatchetMessage, in other: Session? = nil) throws -> Session.Opened? {
        guard let session = other ?? session else { return nil }
        let (before, distance) = (session.stored, session.distance(to: message.header))
        let name = Session.SkippedKey.Name(key: message.header.key, number: message.header.number)
        let opened = try attempt { try session.open(message) { kept[$0] } }
        try require(session.stored == before, "a session changed in its place")
        guard let opened else { return nil }
        try require(opened.skipped.count <= RatchetLimits.mostSkipped, "\(opened.skipped.count) keys were skipped")
        try require(opened.skipped.count <= max(distance, 0), "\(distance) keys were announced")
        try require(Set(opened.skipped.map(\.name)).count == opened.skipped.count, "a key was skipped twice")
        try require(opened.used == nil || opened.used == name && kept[name] != nil, "another kept key was used")
        try require(opened.session.isAnswered, "a read message is an answer")
        try requireRow(opened.session)
        if let used = opened.used { kept[used] = nil }
        for key in opened.skipped { kept[key.name] = key.messageKey }
        self.session = opened.session
        let again = try attempt { try opened.session.open(message) { kept[$0] } }
        try require(again == nil, "a message was read twice")
        return opened
    }

    mutating func take(_ session: Session) {
        self.session = session
        kept = [:]
    }

    /// - Returns: the bytes of the next message.
    mutating func seal(_ content: [UInt8]) throws -> (bytes: [UInt8], isExchange: Bool)? {
        guard var next = session, let sealed = try attempt({ try next.seal(Secret(content)) }) else { return nil }
        session = next
        return sealed
    }
}

/// A session's row is read as the same session.
private func requireRow(_ session: Session) throws {
    guard let again = try attempt({ try Session(stored: session.stored) }) else {
        throw Finding(description: "a stored session was refused")
    }
    try require(again.stored == session.stored, "a stored session is another session")
}

// MARK: Bundles, rows, payloads and keys

private func readBundle(_ bytes: [UInt8], _ dialect: OMEMOVersion) throws {
    guard let fixture = RatchetFixture.all[dialect] else { return }
    var rest = bytes[...]
    func take(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
    let size = dialect == .axolotl ? 33 : 32
    let ids = take(8).map(UInt32.init)
    let (identity, signedPrekey, signature, prekey) = (take(size), take(size), take(64), take(Int.max - 300))
    guard ids.count == 8 else { return }
    func id(_ bytes: ArraySlice<UInt32>) -> UInt32 { bytes.reduce(0) { $0 << 8 | $1 } }
    let bundle = try attempt {
        try Bundle(
            dialect, identity: identity, signedPrekey: (id(ids[..<4]), signedPrekey), signature: signature,
            prekey: (id(ids[4...]), prekey))
    }
    guard let bundle else { return }
    try require(max(bundle.signedPrekeyID, bundle.prekeyID) <= RatchetLimits.largestNumber, "a large id")
    guard let session = try attempt({ try Session.begin(fixture.identity, bundle, dialect) }) else { return }
    var reader = Reader(session)
    try require(try reader.seal([1, 2, 3])?.isExchange == true, "a new session cannot send")
}

private func readRow(_ bytes: [UInt8]) throws {
    guard let session = try attempt({ try Session(stored: bytes) }) else { return }
    try requireRow(session)
    var reader = Reader(session)
    for _ in 0..<2 { _ = try reader.seal([1]) }
    try require(
        session.received <= RatchetLimits.largestNumber && session.sent <= RatchetLimits.largestNumber, "a large number"
    )
}

private func readPayload(_ bytes: [UInt8], _ dialect: OMEMOVersion) throws {
    var source = bytes[...]
    let (ivCount, keyCount) = (Int(source.popFirst() ?? 0) & 31, Int(source.popFirst() ?? 0) & 63)
    let (iv, key) = (Array(source.prefix(ivCount)), Array(source.dropFirst(ivCount).prefix(keyCount)))
    let sealed = Array(source.dropFirst(ivCount + keyCount))
    let text = try attempt {
        try Payload.open(sealed, iv: dialect == .axolotl ? iv : nil, content: Secret(key), dialect)
    }
    try require((text?.count ?? 0) <= sealed.count, "more text than was sealed")
    // What we seal is opened.
    guard let payload = try attempt({ try Payload(sealed, dialect) }), let sealedAgain = payload.sealed else {
        throw Finding(description: "a text was not sealed")
    }
    let opened = try attempt { try Payload.open(sealedAgain, iv: payload.iv, content: payload.content, dialect) }
    try require(opened == sealed, "another text")
}

private func readKeys(_ bytes: [UInt8], _ dialect: OMEMOVersion) throws {
    if let key = try attempt({ try PublicKey(bytes) }) {
        try require(key.bytes == bytes, "a key in another form")
        guard let identity = try attempt({ try PublicIdentity(key) }) else { return }
        try require(identity.edwards[31] & 0x80 == 0, "a sign that nobody has said")
        try require(try PublicIdentity(edwards: identity.edwards).key == key, "the other form is of another key")
    }
    if let identity = try attempt({ try dialect.identity(bytes) }) {
        try require(identity.key.bytes[31] & 0x80 == 0, "a key that is not canonical")
        try require(dialect == .axolotl || identity.edwards == bytes, "a key in another form")
    }
    guard bytes.count == 32, let identity = try attempt({ try Identity(seed: Secret(bytes)) }) else { return }
    try require(identity.publicIdentity.edwards[31] & 0x80 == 0, "an own identity with the sign 1")
}

// MARK: Conversations

/// The input says who sends, loses, reads in another order, repeats and changes messages.
private func converse(_ bytes: [UInt8], _ dialect: OMEMOVersion) throws {
    guard let fixture = RatchetFixture.all[dialect], let bundle = fixture.bundle else { return }
    var sides = [Reader(try Session.begin(fixture.other, bundle, dialect)), Reader(nil)]
    var sent: [[(bytes: [UInt8], content: [UInt8])]] = [[], []]
    var left = 1500
    for byte in bytes.prefix(24) {
        let (side, number) = (Int(byte & 1), Int(byte >> 3))
        switch byte >> 1 & 3 {
        case 0, 1:
            // Most are few; once in a while more are lost than may be skipped.
            for _ in 0...(byte & 2 == 0 ? 0 : number == 31 ? 350 : number & 3) where left > 0 {
                left -= 1
                let content = [UInt8](repeating: byte, count: 32 + number)
                guard let sealed = try sides[side].seal(content) else { break }
                sent[side].append((sealed.isExchange ? [1] + sealed.bytes : [0] + sealed.bytes, content))
            }
        case 2:
            guard !sent[1 - side].isEmpty else { continue }
            let all = sent[1 - side]
            let message = all[all.count - 1 - number % all.count]
            let opened = try fixture.deliver(message.bytes, &sides[side], isResponder: side == 1)
            try require(opened == nil || opened == message.content, "another text was read")
        default:
            guard var message = sent[1 - side].last?.bytes else { continue }
            message[message.count - 1 - number % (message.count - 1)] ^= 1 << (byte & 7)
            let before = sides[side].session?.stored
            let opened = try fixture.deliver(message, &sides[side], isResponder: side == 1)
            // Fields of a key exchange that the MAC does not cover may differ.
            try require(opened == nil || opened == sent[1 - side].last?.content, "a changed text was read")
            try require(
                opened != nil || before == sides[side].session?.stored, "a refused message has changed something")
        }
    }
}
