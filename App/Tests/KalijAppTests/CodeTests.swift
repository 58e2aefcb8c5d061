import Glibc
import Testing

@testable import KalijApp

/// QR codes, written by the app and read by the process that decodes pictures.
@Suite(.serialized) struct CodeTests {
    private static let decoder = PictureDecoder(program: DecoderTests.program())

    private func codes(_ png: [UInt8]) throws -> [String]? {
        let path = "/tmp/kalij-code-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let file = try #require(fopen(path, "wb"))
        fwrite(png, 1, png.count, file)
        fclose(file)
        defer { unlink(path) }
        return Self.decoder.codes(path)
    }

    @Test func `What is written is read, with one device, with many, and with letters of any language`() throws {
        let hex = String(repeating: "0123456789abcdef", count: 4)
        let devices = (1...20).map { "omemo-sid-\($0)=\(hex)" }.joined(separator: ";")
        for text in ["xmpp:juliet@example.org?omemo-sid-7=" + hex, "xmpp:j@x?" + devices, "xmpp:jülïet@exämple.org?ж"] {
            let code = try #require(QRCode(text))
            #expect(try codes(PNG.bytes(code.picture(scale: 4))) == [text])
        }
    }

    @Test func `A text that fits in no code is none`() {
        #expect(QRCode(String(repeating: "x", count: 3000)) == nil)
    }

    @Test func `A picture without a code has none, and what is no picture is none`() throws {
        let white = DecodedPicture(
            width: 64, height: 64, channels: 4, pixels: [UInt8](repeating: 255, count: 64 * 64 * 4))
        #expect(try codes(PNG.bytes(white)) == [])
        #expect(try codes(Array("xmpp:juliet@example.org".utf8)) == nil)
    }

    @Test func `An output that ends within a code ends the codes`() {
        #expect(PictureDecoder.texts([1, 0, 0, 0, 0x61, 2, 0, 0, 0, 0x62]) == ["a"])
        #expect(PictureDecoder.texts([255, 255, 255, 255, 0x61]).isEmpty && PictureDecoder.texts([1, 0]).isEmpty)
    }
}

/// Writes pictures without compression.
private enum PNG {
    static func bytes(_ picture: DecodedPicture) -> [UInt8] {
        let row = picture.width * picture.channels
        let lines = (0..<picture.height).flatMap { [0] + picture.pixels[$0 * row..<($0 + 1) * row] }
        let size = big(UInt32(picture.width)) + big(UInt32(picture.height))
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", size + [8, picture.channels == 4 ? 6 : 2, 0, 0, 0]) + chunk("IDAT", stored(lines))
            + chunk("IEND", [])
    }

    private static func big(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + content
        return big(UInt32(content.count)) + body + big(checksum(body))
    }

    /// CRC-32.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
    }

    /// A zlib stream of stored blocks.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: bytes.count, by: 65_535) {
            let block = bytes[start..<min(start + 65_535, bytes.count)]
            let length = UInt16(block.count)
            stream.append(start + block.count == bytes.count ? 1 : 0)
            for number in [length, ~length] { stream += [UInt8(number & 0xFF), UInt8(number >> 8)] }
            stream += block
        }
        let sums = bytes.reduce(into: (low: UInt32(1), high: UInt32(0))) { sums, byte in
            sums.low = (sums.low + UInt32(byte)) % 65_521
            sums.high = (sums.high + sums.low) % 65_521
        }
        return stream + big(sums.high << 16 | sums.low)
    }
}
