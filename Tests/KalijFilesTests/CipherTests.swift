import Foundation
import Glibc
import TestSupport
import Testing

@testable import KalijFiles

/// "Encrypted while sent; a second PUT makes the same bytes" (media, sending 11), "named only behind the tag" (receiving 16)
struct CipherTests {
    private let scratch: ScratchDirectory
    private let key: FileKey

    init() throws {
        scratch = try ScratchDirectory()
        key = try FileKey(key: Array(0..<32), nonce: Array(100..<112))
    }

    private func all(_ reader: some FileReader, _ step: Int) throws -> [UInt8] {
        var (result, buffer) = ([UInt8](), [UInt8](repeating: 0, count: step))
        while true {
            let count = try buffer.withUnsafeMutableBytes { try reader.read(into: $0) }
            guard count > 0 else { return result }
            result += buffer.prefix(count)
        }
    }

    private func decrypted(_ sealed: [UInt8], _ key: FileKey, step: Int = 1 << 20) throws -> [UInt8] {
        let decryption = try Decryption(
            of: scratch.write(sealed, to: "sealed"), into: scratch.file("plain"), key: key)
        while try !decryption.step(bytes: step) {}
        #expect(try decryption.step(bytes: step))
        return try bytes(of: scratch.file("plain"))
    }

    /// McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13, 14 and 15; GCM is NIST SP 800-38D.
    @Test("the vectors of the standard")
    func vectors() throws {
        let zero = try FileKey(key: [UInt8](repeating: 0, count: 32), nonce: [UInt8](repeating: 0, count: 12))
        let one = try all(
            EncryptingReader(path: scratch.write([UInt8](repeating: 0, count: 16), to: "x"), key: zero), 100)
        #expect(hex(one) == "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")
        let none = try all(EncryptingReader(path: scratch.write([], to: "y"), key: zero), 100)
        #expect(hex(none) == "530f8afbc74536b9a963b4f1c4cb738b")
        #expect(try decrypted(none, zero).isEmpty)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(
        "any size, read in any steps, comes back; each reader makes the same bytes",
        arguments: [
            (1, 1), (15, 4), (16, 16), (17, 1000), (65_536, 65_536), (65_537, 70_001), (200_000, 16_384),
            (200_000, 1 << 20),
        ])
    func roundTrip(count: Int, step: Int) throws {
        let plain = sample(count)
        let path = try scratch.write(plain, to: "x")
        let reader = try EncryptingReader(path: path, key: key)
        let sealed = try all(reader, step)
        #expect(reader.length == Int64(count + 16) && sealed.count == count + 16)
        #expect(try all(EncryptingReader(path: path, key: key), 333) == sealed)
        #expect(try decrypted(sealed, key, step: 10_000) == plain)
    }

    @Test("a nonce of 16 bytes is read; other lengths are refused")
    func nonces() throws {
        let old = try FileKey(key: Array(0..<32), nonce: Array(0..<16))
        let sealed = try all(EncryptingReader(path: scratch.write(sample(100), to: "x"), key: old), 64)
        #expect(try decrypted(sealed, old) == sample(100))
        for (keyCount, nonceCount) in [(31, 12), (33, 12), (32, 11), (32, 13), (32, 0), (0, 12)] {
            #expect(throws: FileError(.malformed)) {
                try FileKey(
                    key: [UInt8](repeating: 1, count: keyCount), nonce: [UInt8](repeating: 1, count: nonceCount))
            }
        }
        let (one, other) = (try FileKey.random().exported, try FileKey.random().exported)
        #expect(one.key.count == 32 && one.nonce.count == 12 && one.key != other.key && one.nonce != other.nonce)
        #expect(one.key.contains { $0 != 0 })
    }

    @Test("any changed byte, a cut and another key are found, and nothing is left")
    func wrongTags() throws {
        let sealed = try all(EncryptingReader(path: scratch.write(sample(50), to: "x"), key: key), 64)
        var wrong = sealed.indices.map { place in
            var copy = sealed
            copy[place] ^= 1
            return copy
        }
        wrong += (16..<sealed.count).map { Array(sealed.prefix($0)) } + [sealed + [0]]
        for bytes in wrong {
            #expect(throws: FileError(.tag)) { try decrypted(bytes, key) }
            #expect(access(scratch.file("plain"), F_OK) != 0)
        }
        #expect(throws: FileError(.tag)) { try decrypted(sealed, FileKey.random()) }
        for count in 0..<16 {
            #expect(throws: FileError(.malformed)) { try decrypted(Array(sealed.prefix(count)), key) }
        }
    }

    @Test("work that is given up leaves nothing; work that has failed stays failed; a cut during the work is found")
    func givenUp() throws {
        let sealed = try all(EncryptingReader(path: scratch.write(sample(300_000), to: "x"), key: key), 4096)
        let path = try scratch.write(sealed, to: "sealed")
        do {
            let decryption = try Decryption(of: path, into: scratch.file("plain"), key: key)
            #expect(try !decryption.step(bytes: 1))
            #expect(access(scratch.file("plain"), F_OK) == 0)
        }
        #expect(access(scratch.file("plain"), F_OK) != 0)
        let decryption = try Decryption(of: path, into: scratch.file("plain"), key: key)
        #expect(try !decryption.step(bytes: 1))
        truncate(path, 100_000)
        #expect(throws: FileError(.changed)) { while try !decryption.step(bytes: 1) {} }
        #expect(access(scratch.file("plain"), F_OK) != 0)
        #expect(throws: FileError.self) { try decryption.step(bytes: 1) }
    }

    @Test("over the limit of GCM nothing begins")
    func limit() throws {
        // A sparse file takes no space.
        let path = try scratch.write([], to: "x")
        truncate(path, off_t(FileKey.limit) + 1)
        #expect(throws: FileError(.tooLarge)) { try EncryptingReader(path: path, key: key) }
        truncate(path, off_t(FileKey.limit) + 17)
        #expect(throws: FileError(.tooLarge)) { try Decryption(of: path, into: scratch.file("plain"), key: key) }
        truncate(path, off_t(FileKey.limit))
        #expect(try EncryptingReader(path: path, key: key).length == FileKey.limit + 16)
    }

    @Test("digests in slices and on the way are those of another program", arguments: [0, 1, 65_536, 200_001])
    func digests(count: Int) throws {
        let path = try scratch.write(sample(count), to: "x")
        let (expected, reader) = (try reference(sample(count)), try HashingReader(path: path))
        #expect(try all(reader, 7001) == sample(count) && reader.sha256 == expected && reader.length == Int64(count))
        let hashing = try StreamingHash(of: path)
        var steps = 0
        while try !hashing.step(bytes: 65_536) { steps += 1 }
        #expect(hashing.sha256 == expected && steps == max(0, (count + 65_535) / 65_536 - 1))
    }

    @Test("a file that is cut or extended while it is read is not taken for whole", arguments: [100_000, 300_001])
    func changed(size: Int) throws {
        let path = try scratch.write(sample(300_000), to: "x")
        let (plain, sealing, hashing) = (
            try HashingReader(path: path), try EncryptingReader(path: path, key: key), try StreamingHash(of: path)
        )
        truncate(path, size)
        #expect(throws: FileError(.changed)) { try all(plain, 8192) }
        #expect(throws: FileError(.changed)) { try all(sealing, 8192) }
        #expect(throws: FileError(.changed)) { while try !hashing.step(bytes: 1) {} }
    }

    @Test("nothing but regular files", arguments: ["/dev/zero", "/tmp"])
    func regular(path: String) {
        #expect(throws: FileError(.notRegular)) { try HashingReader(path: path) }
        #expect(throws: FileError(.notRegular)) { try EncryptingReader(path: path, key: key) }
        #expect(throws: FileError(.notRegular)) { try Decryption(of: path, into: scratch.file("p"), key: key) }
        #expect(throws: FileError(.notRegular)) { try StreamingHash(of: path) }
    }
}
