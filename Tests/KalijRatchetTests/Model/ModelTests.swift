import Foundation
import TestSupport
import Testing

@testable import KalijRatchet

/// Random conversations, played here and by the libraries x3dh and doubleratchet in another process, with the same
/// random numbers: the same bytes leave, the same texts are read, and the same messages are refused.
///
/// The libraries are Debian 12's; `Scripts/long ratchet-model 1000000 python=... seed=...` is the long form, half of it in each
/// format, with the libraries of another Python. Differences that are known and meant:
/// - A header that was tampered with may be refused for another reason.
/// - We skip to pn + 1, the libraries to pn. The key behind the last message is left out here, and what follows a gap
///   of more than 999 keys is not compared.
/// - We draw a ratchet key when it is first used for sending, the libraries when the other side's has come. Put back to
///   a state in between, the libraries know the key that they have sent since, and we do not: a side is saved with its
///   key drawn.
@Suite struct ModelTests {
    private static let operations = LongForm.amount("ratchet-model", short: 4_000)

    @Test("random conversations go as with the libraries", arguments: OMEMOVersion.allCases)
    func conversations(_ dialect: OMEMOVersion) throws {
        let seed = RandomInput.freshSeed("the ratchet's model, \(dialect)")
        var game = try Game(dialect, seed: seed, farAfter: min(2500, Self.operations / 10))
        var done = 0
        var hasAll: Bool { Set(game.counts.keys).isSuperset(of: Game.expected) }
        // Half of the operations in each format, or as many as it takes until each kind has been there.
        while done < Self.operations / 2 || !hasAll && done < Self.operations * 5 {
            done += try game.move()
            guard game.problems.isEmpty else { break }
        }
        print("ratchet model, \(dialect): seed \(seed), \(done) operations; \(game.counts.sorted { $0.key < $1.key })")
        #expect(game.problems == [], "seed \(seed), after \(done) operations")
        #expect(hasAll, "\(game.counts)")
    }
}

/// Some conversations at the same time.
private struct Game {
    static let expected: Set<String> = [
        "begun", "sent", "read", "lost", "replayed", "refused", "tampered", "restored", "out of order", "far",
    ]
    let dialect: OMEMOVersion
    /// After how many moves messages beyond the limit are lost.
    private let farAfter: Int
    private let oracle: Oracle
    private var random: Numbers
    private var conversations: [Conversation] = []
    private var begun = 0
    private var movesSinceFar = 0
    private(set) var counts: [String: Int] = [:]
    private(set) var problems: [String] = []

    init(_ dialect: OMEMOVersion, seed: UInt64, farAfter: Int) throws {
        (self.dialect, self.farAfter) = (dialect, farAfter)
        oracle = try Oracle(dialect, seed: seed)
        random = Numbers(state: seed)
    }

    /// - Returns: how many operations.
    mutating func move() throws -> Int {
        if conversations.count < 5 || random.chance(1) { try begin() }
        let index = random.below(conversations.count)
        let side = random.below(2)
        movesSinceFar += 1
        if movesSinceFar > farAfter, try goFar(index, side) > 0 { return 1004 }
        switch random.below(100) {
        case 0..<42: return try send(index, side, 1 + random.below(3))
        case 42..<84: return try receive(index, side)
        case 84..<88: return lose(index, side)
        case 88..<92: return try replay(index, side)
        case 92..<97: return try tamper(index, side)
        case 97..<98: return try save(index, side)
        default: return try restore(index, side)
        }
    }

    private mutating func count(_ what: String, _ number: Int = 1) { counts[what, default: 0] += number }

    private mutating func begin() throws {
        begun += 1
        let keys = try oracle.ask(["op": "begin", "session": "s\(begun)"])
        let conversation = try Conversation("s\(begun)", dialect, keys)
        if conversations.count < 5 {
            conversations.append(conversation)
        } else {
            conversations[random.below(conversations.count)] = conversation
        }
        count("begun")
    }

    private mutating func send(_ index: Int, _ side: Int, _ number: Int) throws -> Int {
        guard conversations[index].sides[side].session != nil || side == 0 else { return 0 }
        for _ in 0..<number {
            let text = (0..<(dialect == .omemo2 ? 48 : 32)).map { _ in UInt8(random.below(256)) }
            let reply = try oracle.ask([
                "op": "send", "session": conversations[index].name, "by": Conversation.names[side], "text": text.hex,
            ])
            let bytes = try conversations[index].sides[side].send(text, drew: reply.list("drew"))
            if bytes != reply.bytes("message") { problems.append("another message in \(conversations[index].name)") }
            conversations[index].sent[side].append((bytes, text))
            conversations[index].onTheWay[side].append(conversations[index].sent[side].count - 1)
        }
        count("sent", number)
        return number
    }

    /// `side` reads the oldest message on its way, or another.
    private mutating func receive(_ index: Int, _ side: Int) throws -> Int {
        let waiting = conversations[index].onTheWay[1 - side]
        guard !waiting.isEmpty else { return 0 }
        let place = random.chance(70) ? 0 : random.below(waiting.count)
        if place > 0 { count("out of order") }
        conversations[index].onTheWay[1 - side].remove(at: place)
        let (bytes, text) = conversations[index].sent[1 - side][waiting[place]]
        let read = try read(bytes, index, side)
        if let read, read != text { problems.append("another text") }
        count(read == nil ? "unread" : "read")
        return 1
    }

    private mutating func lose(_ index: Int, _ side: Int) -> Int {
        guard !conversations[index].onTheWay[side].isEmpty else { return 0 }
        conversations[index].onTheWay[side].remove(at: random.below(conversations[index].onTheWay[side].count))
        count("lost")
        return 1
    }

    /// A message comes once more, or for the first time after all.
    private mutating func replay(_ index: Int, _ side: Int) throws -> Int {
        guard !conversations[index].sent[1 - side].isEmpty else { return 0 }
        let number = random.below(conversations[index].sent[1 - side].count)
        _ = try read(conversations[index].sent[1 - side][number].bytes, index, side)
        count("replayed")
        return 1
    }

    private mutating func tamper(_ index: Int, _ side: Int) throws -> Int {
        guard let message = conversations[index].sent[1 - side].last else { return 0 }
        var bytes = message.bytes
        for _ in 0...random.below(3) { bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8)) }
        guard bytes != message.bytes else { return 0 }
        _ = try read(bytes, index, side)
        count("tampered")
        return 1
    }

    private mutating func save(_ index: Int, _ side: Int) throws -> Int {
        guard conversations[index].sides[side].session?.sending != nil else { return 0 }
        _ = try oracle.ask(["op": "save", "session": conversations[index].name, "by": Conversation.names[side]])
        conversations[index].saved[side] = conversations[index].sides[side]
        return 1
    }

    private mutating func restore(_ index: Int, _ side: Int) throws -> Int {
        guard let saved = conversations[index].saved[side] else { return 0 }
        _ = try oracle.ask(["op": "restore", "session": conversations[index].name, "by": Conversation.names[side]])
        conversations[index].sides[side] = saved
        count("restored")
        return 1
    }

    /// More messages are lost than keys may be skipped. The conversation ends with that.
    private mutating func goFar(_ index: Int, _ side: Int) throws -> Int {
        guard conversations[index].sides[side].session != nil, conversations[index].sides[1 - side].session != nil
        else {
            return 0
        }
        movesSinceFar = 0
        let sent = try send(index, side, 1003)
        conversations[index].onTheWay[side] = []
        let last = conversations[index].sent[side].count - 1
        _ = try read(conversations[index].sent[side][last].bytes, index, 1 - side)
        conversations.remove(at: index)
        count("far")
        return sent + 1
    }

    /// Both read, with the same outcome.
    private mutating func read(_ bytes: [UInt8], _ index: Int, _ side: Int) throws -> [UInt8]? {
        let reply = try oracle.ask([
            "op": "receive", "session": conversations[index].name, "by": Conversation.names[side], "message": bytes.hex,
        ])
        let (text, problem) = conversations[index].sides[side].receive(bytes, drew: reply.list("drew"))
        if text == nil { count("refused") }
        if text != reply.bytes("text") {
            problems.append(
                """
                \(conversations[index].name): here \(text?.hex ?? problem), there \
                \(reply.bytes("text")?.hex ?? reply.text("refused") ?? "nothing"); the message \(bytes.hex)
                """)
        }
        return text
    }
}

/// Two sides, as they are here.
private struct Conversation {
    static let names = ["a", "b"]
    let name: String
    var sides: [Side]
    var saved: [Side?] = [nil, nil]
    var sent: [[(bytes: [UInt8], text: [UInt8])]] = [[], []]
    /// The numbers of messages that have not come.
    var onTheWay: [[Int]] = [[], []]

    init(_ name: String, _ dialect: OMEMOVersion, _ keys: Oracle.Reply) throws {
        self.name = name
        func secret(_ key: String) -> Secret { Secret(keys.bytes(key) ?? []) }
        let (a, b) = (try Identity(seed: secret("seed_a")), try Identity(seed: secret("seed_b")))
        let (spk, pk) = (try KeyPair(secret: secret("spk")), try KeyPair(secret: secret("pk")))
        let bundle = try Bundle(
            dialect, identity: dialect.encode(b.publicIdentity), signedPrekey: (1, dialect.encode(spk.key)),
            signature: b.sign(spk.key, dialect), prekey: (1, dialect.encode(pk.key)))
        let ek = try KeyPair(secret: secret("ek"))
        let exchange = Session.Exchange(prekeyID: 1, signedPrekeyID: 1, ephemeral: ek.key)
        sides = [
            Side(dialect) { drew in
                try Session.begin(a, bundle, dialect, .given([ek.secret.exported, drew ?? []]))
            },
            Side(dialect) { _ in
                try Session(
                    responding: dialect, ours: b.publicIdentity, theirs: a.publicIdentity, exchange: exchange,
                    root: Agreement.initiate(a, ephemeral: ek.secret, bundle, dialect), pair: spk)
            },
        ]
    }
}

private struct Side {
    let dialect: OMEMOVersion
    /// Makes the session, with the first ratchet key that the libraries have drawn.
    private let begin: ([UInt8]?) throws -> Session
    var session: Session?
    private var kept: [Session.SkippedKey.Name: Secret] = [:]
    private var order: [Session.SkippedKey.Name] = []
    /// The libraries draw on receiving, we on sending.
    private var drawn: [[UInt8]] = []

    init(_ dialect: OMEMOVersion, _ begin: @escaping ([UInt8]?) throws -> Session) {
        (self.dialect, self.begin) = (dialect, begin)
    }

    /// - Returns: the message without the exchange around.
    mutating func send(_ text: [UInt8], drew: [[UInt8]]) throws -> [UInt8] {
        if session == nil {
            session = try begin(drew.first)
        } else {
            drawn += drew
        }
        guard var session else { return [] }
        defer { self.session = session }
        let given = session.sending == nil ? drawn : []
        if session.sending == nil { drawn = [] }
        // The last drawn key counts: an earlier key was never used for sending.
        let (bytes, isExchange) = try session.seal(Secret(text), .given(given.suffix(1)))
        guard isExchange else { return bytes }
        var rest = bytes[...]
        if dialect == .axolotl { rest = rest.dropFirst() }
        return Array(try Protobuf.Fields(rest).bytes(dialect == .axolotl ? 4 : 5))
    }

    mutating func receive(_ bytes: [UInt8], drew: [[UInt8]]) -> (text: [UInt8]?, problem: String) {
        do {
            let session = try session ?? begin(nil)
            let message = try RatchetMessage(bytes, dialect)
            let header = message.header
            let opened = try session.open(message) { kept[$0] }
            self.session = opened.session
            if let used = opened.used { kept[used] = nil }
            for key in opened.skipped where !isBeyond(key.name, header) {
                kept[key.name] = key.messageKey
                order.append(key.name)
            }
            while order.count > 3000 { kept[order.removeFirst()] = nil }
            drawn += drew
            return (opened.content.exported, "")
        } catch { return (nil, "\(error)") }
    }

    /// The key behind the last message of a chain, which only peers with libsignal use.
    private func isBeyond(_ name: Session.SkippedKey.Name, _ header: RatchetMessage.Header) -> Bool {
        name.key != header.key && name.number >= header.previous
    }
}

/// The other process.
private final class Oracle {
    private let process = Process()
    private let input = Pipe()
    private let output: UnsafeMutablePointer<FILE>
    private let pipe = Pipe()

    init(_ dialect: OMEMOVersion, seed: UInt64) throws {
        process.executableURL = OracleProgram.python
        process.arguments = [OracleProgram.path("oracle.py"), dialect == .omemo2 ? "2" : "0.3"]
        process.environment = OracleProgram.environment.merging(["ORACLE_SEED": "\(seed)"]) { $1 }
        (process.standardInput, process.standardOutput) = (input, pipe)
        output = try #require(fdopen(pipe.fileHandleForReading.fileDescriptor, "r"))
        try process.run()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    func ask(_ question: [String: String]) throws -> Reply {
        let data = try JSONEncoder().encode(question)
        try input.fileHandleForWriting.write(contentsOf: data + [0x0a])
        var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(line) }
        let count = getline(&line, &capacity, output)
        guard count > 0, let line else { throw OracleGone(question: question) }
        // getline has written `count` bytes there.
        let bytes = UnsafeRawBufferPointer(start: line, count: count)
        let fields = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        return Reply(fields: fields ?? [:])
    }

    struct OracleGone: Error { let question: [String: String] }

    struct Reply {
        let fields: [String: Any]
        func text(_ key: String) -> String? { fields[key] as? String }
        func bytes(_ key: String) -> [UInt8]? { text(key).flatMap { [UInt8](hex: $0) } }
        func list(_ key: String) -> [[UInt8]] { (fields[key] as? [String] ?? []).compactMap { [UInt8](hex: $0) } }
    }
}

/// SplitMix64.
private struct Numbers {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }

    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}

extension [UInt8] {
    fileprivate var hex: String {
        reduce(into: "") { text, byte in
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
