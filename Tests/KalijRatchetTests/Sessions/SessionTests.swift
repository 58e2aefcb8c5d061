import Testing

@testable import KalijRatchet

@Suite struct SessionTests {
    @Test(
        "until the first answer each message carries the exchange, and the other side has one session",
        arguments: OMEMOVersion.allCases)
    func exchange(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = (try Device(dialect), try Device(dialect))
        try juliet.begin(with: romeo)
        for number in 1...3 {
            let sealed = try juliet.send("message \(number)")
            #expect(sealed.isExchange)
            try romeo.receive(sealed)
        }
        let answer = try romeo.send("answer")
        #expect(!answer.isExchange)
        try juliet.receive(answer)
        #expect(try !juliet.send("later").isExchange)
    }

    @Test("whoever has received nothing cannot send", arguments: OMEMOVersion.allCases)
    func silent(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = (try Device(dialect), try Device(dialect))
        try juliet.begin(with: romeo)
        let exchange = try KeyExchange(juliet.send("hello").bytes, dialect)
        var session = try Session.accept(
            exchange, romeo.identity, signedPrekey: romeo.signedPrekey, prekey: romeo.prekey.secret, dialect)
        #expect(throws: RatchetError.self) { try session.seal(Secret([1])) }
        // The message is read all the same.
        romeo.session = session
        #expect(try romeo.open(juliet.send("again").bytes, isExchange: true).content.count == 32)
    }

    @Test("crossing exchanges: both begin, and each reads the other's session", arguments: OMEMOVersion.allCases)
    func crossing(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = (try Device(dialect), try Device(dialect))
        var (julietToo, romeoToo) = (juliet, romeo)
        try juliet.begin(with: romeo)
        try romeoToo.begin(with: julietToo)
        let (one, two) = (try juliet.send("one"), try romeoToo.send("two"))
        #expect(try !(#require(juliet.session)).isOf(KeyExchange(two.bytes, dialect)))
        try romeo.receive(one)
        try julietToo.receive(two)
        try juliet.receive(romeo.send("to one"))
        try romeoToo.receive(julietToo.send("to two"))
    }

    @Test("messages out of order, lost and repeated", arguments: OMEMOVersion.allCases)
    func order(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = try Device.pair(dialect)
        let messages = try (0..<10).map { try juliet.send("message \($0)") }
        #expect(
            try romeo.receive(messages[4]) == 5, "and the key behind the chain before: some peers count one too few")
        for index in [2, 0, 9, 1] { try romeo.receive(messages[index]) }
        for index in [4, 2, 0, 9, 1] { #expect(throws: RatchetError.keyGone) { try romeo.receive(messages[index]) } }
        // Of the chain before, after a turn.
        try juliet.receive(romeo.send("turn"))
        let next = try juliet.send("next")
        #expect(try romeo.receive(next) == 1)
        for index in [3, 5, 8] { try romeo.receive(messages[index]) }
        // A key of that chain is gone: the message counts as a message of an unknown chain.
        #expect(throws: RatchetError.mac) { try romeo.receive(messages[4]) }
    }

    @Test("peers that count the previous chain one too short lose nothing", arguments: OMEMOVersion.allCases)
    func shortCount(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = try Device.pair(dialect)
        let messages = try (0..<3).map { try juliet.send("message \($0)") }
        let last = messages[2]
        for message in messages.dropLast() { try romeo.receive(message) }
        try juliet.receive(romeo.send("turn"))
        // libsignal, measured: pn is one less.
        juliet.session?.previous -= 1
        let sealed = try juliet.send("next")
        #expect(try RatchetMessage(sealed.bytes, dialect).header.previous == 2)
        try romeo.receive(sealed)
        try romeo.receive(last)
    }

    @Test("1,000 keys may be skipped, and no more; then nothing has changed", arguments: OMEMOVersion.allCases)
    func skipped(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = try Device.pair(dialect)
        let before = try #require(romeo.session).stored
        for _ in 0..<1000 { _ = try juliet.send("lost") }
        var other = juliet
        let last = try juliet.send("within")
        let header = try RatchetMessage(last.bytes, dialect).header
        #expect(try #require(romeo.session).distance(to: header) == 1001, "1000, and the key behind the old chain")
        _ = try other.send("lost, too")
        let beyond = try other.send("beyond")
        #expect(throws: RatchetError.tooFar) { try romeo.receive(beyond) }
        #expect(romeo.session?.stored == before && romeo.kept.isEmpty)
        // In a new chain the old chain's keys are given up first.
        #expect(try romeo.receive(last) == 1000)
        for _ in 0..<1000 { _ = try juliet.send("lost") }
        #expect(try romeo.receive(juliet.send("within")) == 1000)
        for _ in 0..<1001 { _ = try juliet.send("lost") }
        #expect(throws: RatchetError.tooFar) { try romeo.receive(juliet.send("beyond")) }
    }

    @Test(
        "a count of the previous chain that is too large gives up the chain's keys, and not the message",
        arguments: OMEMOVersion.allCases)
    func previousTooLarge(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = try Device.pair(dialect)
        try romeo.receive(juliet.send("first"))
        let early = try juliet.send("early")
        for _ in 0..<1200 { _ = try juliet.send("lost") }
        try juliet.receive(romeo.send("turn"))
        #expect(try romeo.receive(juliet.send("next")) == 0)
        #expect(throws: RatchetError.mac) { try romeo.receive(early) }
    }

    @Test(
        "n = 2^32 − 1, and n and pn of 2^31 and more, are refused before anything is computed",
        arguments: OMEMOVersion.allCases)
    func largeNumbers(_ dialect: OMEMOVersion) throws {
        let key = try KeyPair.make().key
        for number in [UInt64(1) << 31, UInt64(UInt32.max), UInt64(UInt32.max) + 1, .max] {
            for isPrevious in [false, true] {
                let small: [UInt8] = [1]
                let large = Protobuf.varint(number)
                let (n, pn) = isPrevious ? (small, large) : (large, small)
                let fields: [UInt8] =
                    dialect == .axolotl
                    ? Protobuf.bytes(1, dialect.encode(key)) + [0x10] + n + [0x18] + pn + Protobuf.bytes(4, [1])
                    : [0x08] + n + [0x10] + pn + Protobuf.bytes(3, key.bytes) + Protobuf.bytes(4, [1])
                let mac = [UInt8](repeating: 0, count: dialect.macCount)
                let bytes = RatchetMessage.bytes((dialect == .axolotl ? [0x33] : []) + fields, mac: mac, dialect)
                #expect(throws: RatchetError.self) { try RatchetMessage(bytes, dialect) }
            }
        }
    }

    @Test("a chain ends at its last number", arguments: OMEMOVersion.allCases)
    func exhausted(_ dialect: OMEMOVersion) throws {
        var (juliet, _) = try Device.pair(dialect)
        let chain = try #require(
            juliet.session?.sending ?? Chain(key: Secret([UInt8](repeating: 1, count: 32)), number: 0))
        juliet.session?.sending = Chain(key: chain.key, number: RatchetLimits.largestNumber)
        #expect(throws: RatchetError.exhausted) { try juliet.send("one too many") }
    }

    @Test("a changed message is refused, at whatever bit, and changes nothing", arguments: OMEMOVersion.allCases)
    func changed(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = try Device.pair(dialect)
        try romeo.receive(juliet.send("one"))
        let sealed = try juliet.send("two")
        let before = try #require(romeo.session).stored
        for bit in 0..<sealed.bytes.count * 8 {
            var bytes = sealed.bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: RatchetError.self, "bit \(bit)") { try romeo.open(bytes, isExchange: false) }
        }
        for count in 0..<sealed.bytes.count {
            #expect(throws: RatchetError.self) { try romeo.open(Array(sealed.bytes.prefix(count)), isExchange: false) }
        }
        #expect(romeo.session?.stored == before)
        try romeo.receive(sealed)
    }

    @Test(
        "a changed exchange makes no session, at whatever bit; only 0.3's ignored fields may differ",
        arguments: OMEMOVersion.allCases)
    func changedExchange(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = (try Device(dialect), try Device(dialect))
        try juliet.begin(with: romeo)
        let sealed = try juliet.send("one")
        for bit in 0..<sealed.bytes.count * 8 {
            var bytes = sealed.bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            // The ids of the prekeys choose the keys, which are fixed here.
            if let exchange = try? KeyExchange(bytes, dialect), exchange.prekeyID != 8 || exchange.signedPrekeyID != 7 {
                continue
            }
            #expect(throws: RatchetError.self, "bit \(bit)") { try romeo.open(bytes, isExchange: true) }
        }
    }

    @Test("messages of another session, of another pair and of oneself are refused", arguments: OMEMOVersion.allCases)
    func foreign(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = try Device.pair(dialect)
        var (nurse, _) = try Device.pair(dialect)
        let sealed = try nurse.send("for somebody else")
        #expect(throws: RatchetError.mac) { try romeo.open(sealed.bytes, isExchange: false) }
        let own = try juliet.send("for romeo")
        #expect(throws: RatchetError.self) { try juliet.open(own.bytes, isExchange: false) }
        let other: OMEMOVersion = dialect == .axolotl ? .omemo2 : .axolotl
        #expect(throws: RatchetError.self) { try RatchetMessage(own.bytes, other) }
    }

    @Test("a session from a row goes on; a damaged row is said, and no crash", arguments: OMEMOVersion.allCases)
    func stored(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = try Device.pair(dialect)
        for round in 0..<10 {
            juliet.session = try juliet.session.map { try Session(stored: $0.stored) }
            romeo.session = try romeo.session.map { try Session(stored: $0.stored) }
            try romeo.receive(juliet.send("round \(round)"))
            if round % 3 == 0 { try juliet.receive(romeo.send("back \(round)")) }
        }
        let bytes = try #require(juliet.session).stored
        for count in 0..<bytes.count { _ = try? Session(stored: Array(bytes.prefix(count))) }
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 0xff
            _ = try? Session(stored: other)
        }
        #expect(throws: RatchetError.self) { try Session(stored: []) }
    }

    @Test("without random numbers nothing is sent, and the session stays as it was", arguments: OMEMOVersion.allCases)
    func noRandomness(_ dialect: OMEMOVersion) throws {
        let (_, romeo) = try Device.pair(dialect)
        var (juliet, _) = try Device.pair(dialect)
        #expect(throws: RatchetError.self) { try Session.begin(juliet.identity, romeo.bundle, dialect, .given([])) }
        juliet.session?.sending = nil
        let before = juliet.session?.stored
        #expect(throws: RatchetError.self) { try juliet.session?.seal(Secret([1]), .given([])) }
        #expect(juliet.session?.stored == before)
    }

    @Test("a ratchet key of low order is refused, and the session stays as it was", arguments: OMEMOVersion.allCases)
    func lowOrderRatchetKey(_ dialect: OMEMOVersion) throws {
        let (_, romeo) = try Device.pair(dialect)
        let session = try #require(romeo.session)
        for bytes in KeyTests.lowOrder {
            let header = RatchetMessage.Header(key: try PublicKey(bytes), number: 0, previous: 0)
            let covered = RatchetMessage.authenticated(header, [UInt8](repeating: 1, count: 48), dialect)
            let mac = [UInt8](repeating: 2, count: dialect.macCount)
            let message = RatchetMessage.bytes(covered, mac: mac, dialect)
            #expect(throws: RatchetError.badKey) { try romeo.open(message, isExchange: false) }
        }
        #expect(romeo.session?.stored == session.stored)
    }

    @Test("a MAC is whole, and compared before anything is decrypted", arguments: OMEMOVersion.allCases)
    func macFirst(_ dialect: OMEMOVersion) throws {
        var (juliet, romeo) = try Device.pair(dialect)
        let sealed = try juliet.send("one")
        let message = try RatchetMessage(sealed.bytes, dialect)
        // What cannot be decrypted at all: no whole block. The refusal is the same as for a wrong MAC.
        let covered = RatchetMessage.authenticated(message.header, [1, 2, 3], dialect)
        let wrong = RatchetMessage.bytes(covered, mac: Array(message.mac), dialect)
        #expect(throws: RatchetError.mac) { try romeo.open(wrong, isExchange: false) }
        // The other bits of the code do not help: 0.3 sends 8 bytes of it, 2 sends 16.
        for count in [0, 1, 7, 8, 15, 16, 17, 32] where count != dialect.macCount {
            let mac = (message.mac + [UInt8](repeating: 0, count: 32)).prefix(count)
            let bytes = RatchetMessage.bytes(Array(message.authenticated), mac: Array(mac), dialect)
            #expect(throws: RatchetError.self) { try romeo.open(bytes, isExchange: false) }
        }
        try romeo.receive(sealed)
    }

    @Test("every version byte but 33 is refused")
    func versions() throws {
        var (juliet, romeo) = (try Device(.axolotl), try Device(.axolotl))
        try juliet.begin(with: romeo)
        var exchange = try juliet.send("hello").bytes
        try romeo.receive(.init(text: "hello", bytes: exchange, isExchange: true))
        var message = try romeo.send("hello yourself").bytes
        for byte in UInt8.min...UInt8.max where byte != 0x33 {
            (exchange[0], message[0]) = (byte, byte)
            #expect(throws: RatchetError.self) { try KeyExchange(exchange, .axolotl) }
            #expect(throws: RatchetError.self) { try RatchetMessage(message, .axolotl) }
        }
    }

    @Test("a MAC of another length is no MAC of 2")
    func macLength() throws {
        let header = RatchetMessage.Header(key: try KeyPair.make().key, number: 0, previous: 0)
        let covered = RatchetMessage.authenticated(header, [UInt8](repeating: 1, count: 16), .omemo2)
        for count in 0...40 where count != 16 {
            let bytes = RatchetMessage.bytes(covered, mac: [UInt8](repeating: 1, count: count), .omemo2)
            #expect(throws: RatchetError.malformed("the MAC")) { try RatchetMessage(bytes, .omemo2) }
        }
    }

    @Test("wrong padding under a right MAC is refused as a wrong MAC", arguments: OMEMOVersion.allCases)
    func padding(_ dialect: OMEMOVersion) throws {
        let (juliet, romeo) = try Device.pair(dialect)
        let session = try #require(juliet.session)
        var sender = session
        _ = try sender.seal(Secret([1]))
        let chain = try #require(sender.sending)
        let keys = try Hash.expand(chain.next().messageKey, info: dialect.messageInfo, count: 80)
        let header = RatchetMessage.Header(key: sender.pair.key, number: chain.number, previous: sender.previous)
        for sealed in [[UInt8](repeating: 1, count: 16), [UInt8](repeating: 1, count: 17), []] {
            let covered = RatchetMessage.authenticated(header, sealed, dialect)
            let code = try Hash.authenticate(
                [sender.associated(from: sender.ours, to: sender.theirs), covered], key: keys.part(32..<64))
            let bytes = RatchetMessage.bytes(covered, mac: Array(code.exported.prefix(dialect.macCount)), dialect)
            #expect(throws: RatchetError.mac) { try romeo.open(bytes, isExchange: false) }
        }
    }

    @Test("the limit is for what a message skips in both chains together", arguments: OMEMOVersion.allCases)
    func together(_ dialect: OMEMOVersion) throws {
        for (old, new, kept) in [(600, 600, 600), (600, 399, 1000)] {
            var (juliet, romeo) = try Device.pair(dialect)
            try romeo.receive(juliet.send("first"))
            for _ in 0..<old { _ = try juliet.send("lost") }
            try juliet.receive(romeo.send("turn"))
            for _ in 0..<new { _ = try juliet.send("lost") }
            // One more: the key behind the old chain.
            #expect(try romeo.receive(juliet.send("read")) == kept)
        }
    }

    @Test("n beyond the limit in a new chain is refused before anything is computed", arguments: OMEMOVersion.allCases)
    func farInNewChain(_ dialect: OMEMOVersion) throws {
        let (_, romeo) = try Device.pair(dialect)
        // The agreement with such a key would be refused for the key.
        let key = try PublicKey(KeyTests.lowOrder[0])
        for (number, error) in [(UInt32(1001), RatchetError.tooFar), (1000, .badKey)] {
            let header = RatchetMessage.Header(key: key, number: number, previous: 0)
            let covered = RatchetMessage.authenticated(header, [UInt8](repeating: 1, count: 16), dialect)
            let bytes = RatchetMessage.bytes(covered, mac: [UInt8](repeating: 1, count: dialect.macCount), dialect)
            #expect(throws: error) { try romeo.open(bytes, isExchange: false) }
        }
    }
}
