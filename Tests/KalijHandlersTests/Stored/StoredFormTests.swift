import Foundation
import KalijAddress
import KalijHandlers
import TestSupport
import Testing

/// "Stored form: compact, versioned, canonical; fixtures of every stored form from now on."
struct StoredFormTests {
    @Test("the stored forms equal the fixtures, byte for byte, and the fixtures read as the same values")
    func fixtures() throws {
        let app = try App()
        let callback = WithCallback(completion: try Callback(BundleFetched(rid: 4711, reason: "why")))
        let forms: [(String, StoredHandler)] = [
            ("carbons", try StoredHandler(CarbonsEnabled())),
            ("bundle", try StoredHandler(BundleFetched(rid: 4711, reason: "why"))),
            ("everything", try StoredHandler(EverythingBound())), ("callback", try StoredHandler(callback)),
        ]
        for (name, form) in forms {
            #expect(form.bytes.hex == (try Fixture.bytes(name)).hex, "\(name)")
            #expect(try StoredHandler(bytes: Fixture.bytes(name)) == form)
        }
        let silent = try StoredHandler(Silent())
        try app.registry.invalidate(silent, Invalidation("x"), in: app)
        #expect(silent.bytes.hex == (try Fixture.bytes("invalidated")).hex)
        #expect(try StoredHandler(bytes: Fixture.bytes("invalidated")).isInvalidated)
    }

    @Test("compact: the name, the version, the properties' names and little more")
    func compact() throws {
        let bytes = try StoredHandler(BundleFetched(rid: 4711)).bytes
        #expect(bytes.count == "omemo.bundle-fetched".utf8.count + "rid".utf8.count + 8)
    }

    @Test("canonical: the same for the same values in any order")
    func canonical() throws {
        var forward: [String: Int] = [:]
        var backward: [String: Int] = [:]
        for number in 0..<100 { forward["key \(number)"] = number }
        for number in (0..<100).reversed() { backward["key \(number)"] = number }
        #expect(try StoredValue(encoding: forward).canonicalBytes == StoredValue(encoding: backward).canonicalBytes)
    }

    @Test("addresses, the least and the greatest numbers, and values that are not numbers come back")
    func extremes() throws {
        let jid = try JID("juliet@example.org/balcony")
        #expect(try StoredValue(encoding: jid).decoded(as: JID.self) == jid)
        for number in [Int64.min, -257, -256, -25, -24, -1, 0, 23, 24, 255, 256, 65_535, 65_536, 1 << 32, .max] {
            let bytes = try StoredValue(encoding: number).canonicalBytes
            #expect(StoredValue(canonical: bytes) == .integer(number))
        }
        let huge = try #require(StoredValue(canonical: StoredValue(encoding: UInt64.max).canonicalBytes))
        #expect(try huge.decoded(as: UInt64.self) == .max)
        #expect(throws: DecodingError.self) { try huge.decoded(as: Int64.self) }
        for number in [Double.infinity, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude] {
            let value = try #require(StoredValue(canonical: StoredValue(encoding: number).canonicalBytes))
            #expect(try value.decoded(as: Double.self).bitPattern == number.bitPattern)
        }
        let none = try #require(StoredValue(canonical: StoredValue(encoding: Double.nan).canonicalBytes))
        #expect(try none.decoded(as: Double.self).isNaN)
    }

    @Test("a value without a stored form is refused when bound, with the name")
    func notStorable() throws {
        struct Huge: Handler {
            struct Value: Codable {
                func encode(to encoder: any Encoder) throws {
                    throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: ""))
                }
            }
            static let name = "example.huge"
            var value = Value()
            func call(_: Void, in app: App) {}
        }
        #expect(throws: HandlerError(.notStorable, "example.huge", argument: "value")) { try StoredHandler(Huge()) }
    }

    @Test("no bytes, cut bytes, changed bytes and random bytes are an error or a handler, never a crash")
    func garbage() throws {
        let app = try App()
        var generator = Seeded(RandomInput.freshSeed("stored handlers"))
        for name in ["carbons", "bundle", "everything", "callback", "invalidated"] {
            let bytes = try Fixture.bytes(name)
            for length in 0..<bytes.count {
                #expect(throws: HandlerError.self) { try StoredHandler(bytes: Array(bytes[..<length])) }
            }
            for _ in 0..<RandomInput.rounds(1000) {
                var changed = bytes
                changed[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
                if let stored = try? StoredHandler(bytes: changed) { _ = try? app.registry.ready(stored, true) }
            }
        }
        for _ in 0..<RandomInput.rounds(1000) {
            let length = Int.random(in: 0..<60, using: &generator)
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(throws: HandlerError.self) { try StoredHandler(bytes: bytes) }
        }
    }

    @Test("false lengths and values without end are refused at once")
    func hostile() {
        for bytes: [UInt8] in [
            [0x9B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x5B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [UInt8](repeating: 0x81, count: 100_000), [0x9F, 0x01, 0xFF], [0xC0, 0x01],
            [0xA2, 0x61, 0x61, 1, 0x61, 0x61, 1],
            [0x62, 0xC3, 0x28], [0xA1, 0x01, 0x01], [0x3B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ] {
            #expect(StoredValue(canonical: bytes) == nil)
            #expect(throws: HandlerError(.malformed, "")) { try StoredHandler(bytes: bytes) }
        }
    }

    @Test("inherited types, nested containers and dictionaries with numbers as keys are stored like anything else")
    func containers() throws {
        let pairs = [3: ["x": true], 4: [:]]
        #expect(try StoredValue(encoding: pairs).decoded(as: [Int: [String: Bool]].self) == pairs)
        let base = Derived()
        base.own = 7
        let read = try StoredValue(encoding: base).decoded(as: Derived.self)
        #expect(read.own == 7 && read.inherited == "base")
    }

    private class Base: Codable {
        var inherited = "base"
        init() {}
    }

    private final class Derived: Base {
        var own = 0
        private enum Keys: String, CodingKey { case own, list }
        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            own = try container.decode(Int.self, forKey: .own)
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            #expect(try list.decodeNil())
            #expect(try list.nestedContainer(keyedBy: Keys.self).decode(Int.self, forKey: .own) == 9)
            #expect(list.isAtEnd)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(own, forKey: .own)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encodeNil()
            var inner = list.nestedContainer(keyedBy: Keys.self)
            try inner.encode(9, forKey: .own)
            try super.encode(to: container.superEncoder())
        }
    }
}

extension [UInt8] {
    fileprivate var hex: String { map { String(format: "%02x", $0) }.joined() }
}
