import Testing

@testable import KalijRatchet

@Suite struct ProtobufTests {
    @Test("numbers of one to ten bytes, and none that is longer or larger")
    func numbers() throws {
        #expect(try Protobuf.Fields([0x08, 0xff, 0xff, 0xff, 0xff, 0x07]).number(1) == RatchetLimits.largestNumber)
        for bytes in [
            [0x08], [0x08, 0x80], [0x08] + [UInt8](repeating: 0x80, count: 9) + [0x02],
            [0x08] + [UInt8](repeating: 0x80, count: 10) + [0x00], [0x08] + [UInt8](repeating: 0xff, count: 100),
        ] as [[UInt8]] {
            #expect(throws: RatchetError.self) { try Protobuf.Fields(bytes[...]) }
        }
        #expect(throws: RatchetError.self) { try Protobuf.Fields([0x08, 0x80, 0x80, 0x80, 0x80, 0x08]).number(1) }
    }

    @Test("fields twice, of another type, of no number, cut off or too many are refused")
    func fields() throws {
        for bytes in [
            [0x08, 1, 0x08, 1], [0x0a, 1, 5, 0x0a, 1, 5], [0x08, 1, 0x0a, 1, 5], [0x00, 1], [0x0b], [0x0c], [0x0f],
            [0x0a, 2, 1], [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], [0x0d, 1, 2, 3],
            [0x09, 1, 2, 3, 4, 5, 6, 7],
        ] as [[UInt8]] {
            #expect(throws: RatchetError.self, "\(bytes)") { try Protobuf.Fields(bytes[...]) }
        }
        let many = (1...40).flatMap { Protobuf.number($0, 1) }
        #expect(throws: RatchetError.self) { try Protobuf.Fields(many[...]) }
        let fields = try Protobuf.Fields([0x0a, 1, 5, 0x10, 7])
        #expect(throws: RatchetError.self) { try fields.number(1) }
        #expect(throws: RatchetError.self) { try fields.bytes(2) }
        #expect(throws: RatchetError.self) { try fields.required(3) }
        #expect(try fields.bytes(1) == [5] && fields.number(3) == nil)
    }

    @Test("unknown fields are skipped, of whatever type")
    func unknown() throws {
        let fields = try Protobuf.Fields(
            [0x08, 1, 0xfd, 0x07, 1, 2, 3, 4, 0xf9, 0x07, 1, 2, 3, 4, 5, 6, 7, 8, 0xf2, 0x07, 2, 9, 9])
        #expect(try fields.number(1) == 1)
    }

    @Test("what is written is read, with the bytes of the format")
    func written() throws {
        #expect(Protobuf.number(2, 300) == [0x10, 0xac, 0x02])
        #expect(Protobuf.bytes(16, [1, 2]) == [0x82, 0x01, 2, 1, 2])
        let bytes = Protobuf.number(1, 0) + Protobuf.number(15, RatchetLimits.largestNumber) + Protobuf.bytes(4, [])
        let fields = try Protobuf.Fields(bytes[...])
        #expect(
            try fields.number(1) == 0 && fields.number(15) == RatchetLimits.largestNumber && fields.bytes(4).isEmpty)
    }
}
