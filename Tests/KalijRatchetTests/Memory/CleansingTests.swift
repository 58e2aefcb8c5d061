import Foundation
import TestSupport
import Testing

@testable import KalijRatchet

/// What stands in no row is in the process's memory no longer than needed: after a conversation, the results of the
/// agreements, the message keys, what was derived from them, and the keys of payloads are nowhere.
///
/// Another program plays the same conversation before, and says what to look for, masked, so that the process never has it from
/// there. Halves are looked for: `free` overwrites the first 16 bytes.
@Suite(.serialized) struct CleansingTests {
    @Test("no secret that stands in no row is left in memory", arguments: OMEMOVersion.allCases)
    func conversation(_ dialect: OMEMOVersion) throws {
        let expected = try Expected(dialect)
        #expect(expected.secrets.count > 60)
        let patterns = expected.secrets.map(\.value)
        let pair = Masked(bytes: expected.draws[3].bytes)
        let (_, left) = try Paused.run([0, 16].map { Array(pair.bytes[$0..<$0 + 16]) }) { pause in
            for _ in 0..<3 {
                _ = try KeyPair(secret: pair.secret)
                try pause()
            }
        }
        #expect(left == [], "halves of a secret, on the stack")
        // After each step, before anything else can overwrite what was left there.
        let (sessions, onStack) = try Paused.run(patterns) { pause in try Self.play(dialect, expected, pause) }
        #expect(onStack.map { expected.secrets[$0].name } == [], "on the stack")
        let found = try Memory.search(for: patterns)
        #expect(found.map { expected.secrets[$0].name } == [])
        try withExtendedLifetime(sessions) {
            // The sessions are alive, and the search finds what stands in them.
            let root = try #require(sessions.first).root
            #expect(try Memory.search(for: [root.withBytes { $0.prefix(16).map { $0 ^ Expected.mask } }]) == [0])
        }
    }

    @Test("the search finds a copy that nobody has overwritten, also after its end")
    func copies() throws {
        let patterns = (0..<3).map { _ in (0..<16).map { _ in UInt8.random(in: 0...255) } }
        let alive = Expected.unmasked(patterns[0])
        // Other tests may overwrite what is dropped.
        var found: [Int] = []
        for _ in 0..<20 where found != [0, 1] {
            Self.drop(patterns[1])
            found = try Memory.search(for: patterns)
        }
        #expect(found == [0, 1], "the third was never written without its mask")
        withExtendedLifetime(alive) {}
        let (_, onStack) = try Paused.run([patterns[2]]) { pause in
            Self.deep(12, patterns[2])
            try pause()
        }
        #expect(onStack == [0])
    }

    /// Leaves the value on the stack.
    @inline(never)
    private static func deep(_ depth: Int, _ masked: [UInt8]) {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 16) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 1)
            if depth > 0 {
                deep(depth - 1, masked)
            } else {
                for index in masked.indices { bytes[index] = masked[index] ^ Expected.mask }
            }
            // To no file: but the compiler cannot know that nobody reads the bytes.
            _ = write(-1, bytes.baseAddress, bytes.count)
        }
    }

    /// An array of 64 bytes with the value at its end.
    @inline(never)
    private static func drop(_ masked: [UInt8]) {
        let copy = [UInt8](repeating: 1, count: 48) + Expected.unmasked(masked)
        withExtendedLifetime(copy) {}
    }

    /// Both sides' sessions after the conversation of `secrets_of.py`.
    @inline(never)
    private static func play(
        _ dialect: OMEMOVersion, _ expected: Expected, _ pause: () throws -> Void
    ) throws -> [Session] {
        let (a, b) = (try Identity(seed: expected.seeds[0].secret), try Identity(seed: expected.seeds[1].secret))
        let (spk, pk) = (
            try KeyPair(secret: expected.prekeys[0].secret), try KeyPair(secret: expected.prekeys[1].secret)
        )
        try pause()
        let bundle = try Bundle(
            dialect, identity: dialect.encode(b.publicIdentity), signedPrekey: (1, dialect.encode(spk.key)),
            signature: b.sign(spk.key, dialect), prekey: (1, dialect.encode(pk.key)))
        var ours = try Session.begin(a, bundle, dialect, .masked([expected.ephemeral, expected.draws[0]]))
        try pause()
        let messages = try (0..<3).map { try send($0, &ours, expected, [], pause) }
        let exchange = try KeyExchange(messages[0].bytes, dialect)
        var theirs = try Session.accept(exchange, b, signedPrekey: spk, prekey: pk.secret, dialect)
        try pause()
        try receive(messages[0], exchange.message, &theirs, kept: nil, pause)
        let third = try KeyExchange(messages[2].bytes, dialect).message
        let skipped = try receive(messages[2], third, &theirs, kept: nil, pause)
        let answer = try send(3, &theirs, expected, [expected.draws[1]], pause)
        try receive(answer, RatchetMessage(answer.bytes, dialect), &ours, kept: nil, pause)
        let last = try send(4, &ours, expected, [expected.draws[2]], pause)
        try receive(last, RatchetMessage(last.bytes, dialect), &theirs, kept: nil, pause)
        try receive(
            messages[1], KeyExchange(messages[1].bytes, dialect).message, &theirs, kept: skipped[0].messageKey, pause)
        // A changed message and a changed payload leave nothing, too.
        var changed = try send(4, &ours, expected, [], pause)
        changed.bytes[changed.bytes.count - 1] ^= 1
        #expect(throws: RatchetError.self) {
            try receive(changed, RatchetMessage(changed.bytes, dialect), &theirs, kept: nil, pause)
        }
        try pause()
        return [ours, theirs]
    }

    private struct Sealed {
        let payload: [UInt8]
        let iv: [UInt8]?
        var bytes: [UInt8]
    }

    private static func send(
        _ number: Int, _ session: inout Session, _ expected: Expected, _ draws: [Masked],
        _ pause: () throws -> Void
    ) throws -> Sealed {
        let ivs = session.dialect == .axolotl ? [Masked(bytes: [UInt8](repeating: 7, count: 12))] : []
        let payload = try Payload(
            Array("message \(number)".utf8), session.dialect, .masked([expected.payloadKeys[number]] + ivs))
        try pause()
        let (bytes, _) = try session.seal(payload.content, .masked(draws))
        try pause()
        return Sealed(payload: payload.sealed ?? [], iv: payload.iv, bytes: bytes)
    }

    @discardableResult
    private static func receive(
        _ sealed: Sealed, _ message: RatchetMessage, _ session: inout Session, kept: Secret?,
        _ pause: () throws -> Void
    ) throws -> [Session.SkippedKey] {
        let opened = try session.open(message) { _ in kept }
        try pause()
        let text = try Payload.open(sealed.payload, iv: sealed.iv, content: opened.content, session.dialect)
        try pause()
        #expect(text.starts(with: "message ".utf8))
        session = opened.session
        return opened.skipped
    }
}

/// A thread that stops at its pauses, where its stack is searched.
private enum Paused {
    /// - Returns: the result, and the numbers of the patterns that were on the stack at any pause.
    static func run<Value: Sendable>(
        _ patterns: [[UInt8]], _ body: @escaping @Sendable (_ pause: () throws -> Void) throws -> Value
    ) throws -> (value: Value, found: [Int]) {
        let state = State<Value>()
        let thread = Thread {
            var marker: UInt8 = 0
            withUnsafeBytes(of: &marker) { state.address = UInt(bitPattern: $0.baseAddress) }
            state.result = Result {
                try body {
                    state.paused.signal()
                    state.goOn.wait()
                }
            }
            state.paused.signal()
        }
        thread.stackSize = 1 << 20
        thread.start()
        var found: Set<Int> = []
        while true {
            state.paused.wait()
            if let result = state.result { return (try result.get(), found.sorted()) }
            found.formUnion(try Memory.search(for: patterns, in: [state.address - 1 << 17..<state.address]))
            state.goOn.signal()
        }
    }

    // Holds: of the two threads one waits for the other.
    private final class State<Value: Sendable>: @unchecked Sendable {
        let (paused, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        var address: UInt = 0
        var result: Result<Value, any Error>?
    }
}

/// Bytes under a mask.
private struct Masked {
    let bytes: [UInt8]

    var secret: Secret {
        Secret(count: bytes.count) { output in
            for index in bytes.indices { output[index] = bytes[index] ^ Expected.mask }
        }
    }
}

/// What the other program says.
private struct Expected {
    static let mask: UInt8 = 0xa5
    let seeds: [Masked]
    let prekeys: [Masked]
    let ephemeral: Masked
    let draws: [Masked]
    let payloadKeys: [Masked]
    let secrets: [(name: String, value: [UInt8])]

    static func unmasked(_ bytes: [UInt8]) -> [UInt8] { bytes.map { $0 ^ mask } }

    init(_ dialect: OMEMOVersion) throws {
        let (process, output) = (Process(), Pipe())
        process.executableURL = OracleProgram.python
        process.arguments = [OracleProgram.path("secrets_of.py"), dialect == .omemo2 ? "2" : "0.3"]
        process.environment = OracleProgram.environment
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let said = try decoder.decode(Said.self, from: data)
        func masked(_ values: [Hex]) -> [Masked] { values.map { Masked(bytes: $0.bytes) } }
        (seeds, prekeys, draws) = (masked(said.seeds), masked(said.prekeys), masked(said.draws))
        (ephemeral, payloadKeys) = (Masked(bytes: said.ephemeral.bytes), masked(said.payloadKeys))
        secrets = said.secrets.map { ($0.name, $0.value.bytes) }
    }

    private struct Said: Decodable {
        let seeds, prekeys, draws, payloadKeys: [Hex]
        let ephemeral: Hex
        let secrets: [Named]

        struct Named: Decodable {
            let name: String
            let value: Hex
        }
    }
}

extension Randomness {
    /// Gives `values`, one after the other, without their mask.
    fileprivate static func masked(_ values: [Masked]) -> Randomness {
        let source = MaskedSource(values)
        return Randomness { bytes in
            guard let next = source.next(), next.bytes.count == bytes.count else {
                throw RatchetError.library("no random bytes of this length are left")
            }
            for index in next.bytes.indices { bytes[index] = next.bytes[index] ^ Expected.mask }
        }
    }

    // Holds: a test uses a source from a single thread.
    private final class MaskedSource: @unchecked Sendable {
        private var values: ArraySlice<Masked>
        init(_ values: [Masked]) { self.values = values[...] }
        func next() -> Masked? { values.popFirst() }
    }
}

/// The own process's memory.
private enum Memory {
    /// The numbers of `patterns`, of 16 bytes and under the mask, that are anywhere in memory without the mask.
    static func search(for patterns: [[UInt8]], in ranges: [Range<UInt>]? = nil) throws -> [Int] {
        let size = 1 << 20
        // The search's own copies are in memory of their own, which is left out.
        let buffer = try #require(
            mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), "mmap")
        defer { munmap(buffer, size) }
        let file = open("/proc/self/mem", O_RDONLY)
        guard file >= 0 else { throw CocoaError(.fileReadNoSuchFile) }
        defer { close(file) }
        var found: Set<Int> = []
        let pairs = Pairs(patterns)
        // The system may show neighbours as one range with the buffer: the rest of the range counts.
        let own = UInt(bitPattern: buffer)..<UInt(bitPattern: buffer) + UInt(size)
        let searched = try (ranges ?? writable()).flatMap { range in
            range.overlaps(own)
                ? [
                    range.lowerBound..<max(range.lowerBound, own.lowerBound),
                    min(range.upperBound, own.upperBound)..<range.upperBound,
                ] : [range]
        }
        for range in searched {
            var place = range.lowerBound & ~7
            while place < range.upperBound {
                let count = pread(file, buffer, min(size, Int(range.upperBound - place)), off_t(place))
                guard count >= 16 else {
                    // A page that another thread has given back meanwhile: the pages behind it count.
                    place = (place | 4095) + 1
                    continue
                }
                look(UnsafeRawBufferPointer(start: buffer, count: count), patterns, pairs, &found)
                guard place + UInt(count) < range.upperBound else { break }
                place += max(UInt(count - 15) & ~7, 8)
            }
        }
        return found.sorted()
    }

    /// The pairs of bytes at the beginnings of the patterns. A pattern has one of its first eight pairs at an address that eight divides:
    /// only there is anything looked at.
    private struct Pairs {
        var isThere = [Bool](repeating: false, count: 1 << 16)
        var places: [Int: [(number: Int, offset: Int)]] = [:]

        init(_ patterns: [[UInt8]]) {
            for (number, pattern) in patterns.enumerated() {
                for offset in 0..<8 {
                    let pair = Int(pattern[offset] ^ Expected.mask) | Int(pattern[offset + 1] ^ Expected.mask) << 8
                    isThere[pair] = true
                    places[pair, default: []].append((number, offset))
                }
            }
        }
    }

    private static func look(
        _ bytes: UnsafeRawBufferPointer, _ patterns: [[UInt8]], _ pairs: Pairs, _ found: inout Set<Int>
    ) {
        func check(_ pair: Int, at index: Int) {
            for (number, offset) in pairs.places[pair] ?? [] {
                let start = index - offset
                guard start >= 0, start + 16 <= bytes.count else { continue }
                if (0..<16).allSatisfy({ bytes[start + $0] ^ Expected.mask == patterns[number][$0] }) {
                    found.insert(number)
                }
            }
        }
        pairs.isThere.withUnsafeBufferPointer { isThere in
            var index = 0
            while index + 1 < bytes.count {
                let pair = Int(bytes[index]) | Int(bytes[index + 1]) << 8
                if isThere[pair] { check(pair, at: index) }
                index += 8
            }
        }
    }

    /// The addresses that can be written.
    private static func writable() throws -> [Range<UInt>] {
        try systemFile("/proc/self/maps").split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard fields[1].hasPrefix("rw"), ends.count == 2 else { return nil }
            return ends[0]..<ends[1]
        }
    }
}
