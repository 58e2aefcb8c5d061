import Testing

@testable import KalijRatchet

@Suite struct PayloadTests {
    @Test("payloads are sealed and opened as by the libraries", arguments: 0..<21)
    func vectors(_ index: Int) throws {
        let vector = Vectors.all.payloads[index]
        let dialect = OMEMOVersion(vector.dialect)
        let iv = dialect == .axolotl ? vector.iv.bytes : nil
        #expect(
            try Payload.open(vector.payload.bytes, iv: iv, content: Secret(vector.keyAndTag.bytes), dialect)
                == vector.plaintext.bytes)
        guard iv?.count != 16 else { return }
        let payload = try Payload(
            vector.plaintext.bytes, dialect, .given([vector.key.bytes] + (iv.map { [$0] } ?? [])))
        #expect(payload.sealed == vector.payload.bytes)
        #expect(payload.content.exported == vector.keyAndTag.bytes)
        #expect(payload.iv == iv)
    }

    @Test("in 0.3 an old client's tag stands at the end of the payload")
    func oldTag() throws {
        for vector in Vectors.all.payloads where vector.dialect == "0.3" {
            #expect(
                try Payload.open(
                    vector.payload.bytes + vector.tag.bytes, iv: vector.iv.bytes, content: Secret(vector.key.bytes),
                    .axolotl) == vector.plaintext.bytes)
        }
    }

    @Test("a changed payload, tag, IV or length is refused", arguments: OMEMOVersion.allCases)
    func changed(_ dialect: OMEMOVersion) throws {
        let payload = try Payload(Array("wherefore art thou".utf8), dialect)
        let sealed = try #require(payload.sealed)
        for index in sealed.indices {
            var other = sealed
            other[index] ^= 0x10
            #expect(throws: RatchetError.mac) {
                try Payload.open(other, iv: payload.iv, content: payload.content, dialect)
            }
        }
        #expect(throws: RatchetError.mac) {
            try Payload.open(sealed.dropLast(), iv: payload.iv, content: payload.content, dialect)
        }
        for count in [0, 1, 15, 17, 31, 33, 47, 49] {
            #expect(throws: RatchetError.self) {
                try Payload.open(
                    sealed, iv: payload.iv, content: Secret([UInt8](repeating: 1, count: count)), dialect)
            }
        }
        guard dialect == .axolotl else { return }
        for iv in [nil, [], [UInt8](repeating: 0, count: 11), [UInt8](repeating: 0, count: 64)] as [[UInt8]?] {
            #expect(throws: RatchetError.malformed("the IV")) {
                try Payload.open(sealed, iv: iv, content: payload.content, dialect)
            }
        }
        #expect(throws: RatchetError.malformed("the key of the payload")) {
            try Payload.open([1, 2], iv: payload.iv, content: Secret([UInt8](repeating: 1, count: 16)), dialect)
        }
    }

    @Test("keys and IVs are drawn anew for each payload; an empty message has a key and no payload")
    func drawn() throws {
        for dialect in OMEMOVersion.allCases {
            let payloads = try (0..<50).map { _ in try Payload([1, 2, 3], dialect) }
            #expect(Set(payloads.map(\.content.exported)).count == 50)
            #expect(Set(payloads.compactMap(\.sealed)).count == 50)
            if dialect == .axolotl { #expect(Set(payloads.compactMap(\.iv)).count == 50) }
        }
        let old = try Payload(emptyIn: .axolotl)
        #expect((old.content.count, old.sealed == nil, old.iv?.count) == (16, true, 12))
        let new = try Payload(emptyIn: .omemo2)
        #expect(new.content.exported == [UInt8](repeating: 0, count: 32) && new.sealed == nil && new.iv == nil)
    }

    @Test("without random numbers nothing is sealed")
    func noRandomness() throws {
        for dialect in OMEMOVersion.allCases {
            #expect(throws: RatchetError.self) { try Payload([1], dialect, .given([])) }
        }
    }
}
