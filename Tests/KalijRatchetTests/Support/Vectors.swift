import Foundation
import TestSupport

@testable import KalijRatchet

/// What the MIT libraries x3dh, doubleratchet, xeddsa and twomemo compute (`Fixtures/ratchet-vectors.json`, made by
/// `Tests/Programs/ratchet/make_vectors.py`).
struct Vectors: Decodable {
    static let all: Vectors = {
        do {
            let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "Fixtures/ratchet-vectors.json")
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return try decoder.decode(Vectors.self, from: Data(contentsOf: url))
        } catch { preconditionFailure("the fixture cannot be read: \(error)") }
    }()

    let identities: [IdentityVector]
    let maps: [MapVector]
    let mapsRejected: [RejectedMap]
    let signatures: [SignatureVector]
    let agreements: [AgreementVector]
    let transcripts: [Transcript]
    let payloads: [PayloadVector]

    struct IdentityVector: Decodable {
        let seed, ed25519Pub, x25519Priv, x25519Pub: Hex
    }

    struct MapVector: Decodable {
        let ed25519Pub, x25519Pub: Hex
        let sign: Int
    }

    struct RejectedMap: Decodable {
        let ed25519Pub: Hex
        let why: String
    }

    struct SignatureVector: Decodable {
        let kind: String
        let x25519Pub, ed25519Pub, message, signature: Hex
        let valid: Bool
    }

    struct Initiator: Decodable {
        let seed, ik, ekPriv, ek: Hex
    }

    struct Responder: Decodable {
        let seed, ik, spkPriv, spk, spkSignature, pkPriv, pk: Hex
        let spkId, pkId: UInt32
    }

    struct AgreementVector: Decodable {
        let dialect: String
        let a: Initiator
        let b: Responder
        let sk: Hex
        let ad: Hex
    }

    struct Transcript: Decodable {
        let name, dialect: String
        let a: Initiator
        let b: Responder
        let steps: [Step]

        struct Step: Decodable {
            let `do`, by: String
            let i: Int
            let drew: [Hex]?
            let plaintext, mk, message, kex: Hex?
            let flip: [Int]?
            let result: String?
        }
    }

    struct PayloadVector: Decodable {
        let dialect: String
        let key, iv, plaintext, payload, tag, keyAndTag: Hex
    }
}

/// Bytes that are written as hexadecimal digits.
struct Hex: Decodable, Equatable {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let bytes = [UInt8](hex: text) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
        }
        self.bytes = bytes
    }
}

extension [UInt8] {
    init?(hex text: String) {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}

extension OMEMOVersion {
    init(_ name: String) { self = name == "2" ? .omemo2 : .axolotl }
}

extension Randomness {
    /// Gives `values`, one after the other, and fails after the last.
    static func given(_ values: [[UInt8]]) -> Randomness {
        let source = Source(values)
        return Randomness { bytes in
            guard let next = source.next(), next.count == bytes.count else {
                throw RatchetError.library("no random bytes of this length are left")
            }
            bytes.copyBytes(from: next)
        }
    }

    // Holds: a test uses a source from a single thread.
    private final class Source: @unchecked Sendable {
        private var values: ArraySlice<[UInt8]>
        init(_ values: [[UInt8]]) { self.values = values[...] }
        func next() -> [UInt8]? { values.popFirst() }
    }
}
