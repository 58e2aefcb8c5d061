import CProbe
import Glibc
import Testing

@testable import KalijApp

/// The process that decodes strangers' pictures.
@Suite(.serialized) struct DecoderTests {
    private static let decoder = PictureDecoder(program: program())

    /// The decoder beside the tests, or of a build.
    static func program() -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = max(0, readlink("/proc/self/exe", &bytes, bytes.count - 1))
        let beside = String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let root = #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }
        let places = [
            beside.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }, root + "/.build/debug",
            root + "/.build/release",
        ].map { $0 + "/kalij-app-decode" }
        return places.first { access($0, X_OK) == 0 } ?? places[0]
    }

    private func decode(_ bytes: [UInt8]) throws -> DecodedPicture? {
        let path = "/tmp/kalij-decode-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let file = try #require(fopen(path, "wb"))
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        defer { unlink(path) }
        let picture = Self.decoder.decode(path)
        // The same from memory.
        #expect(Self.decoder.decode(bytes) == picture)
        return picture
    }

    /// A GIF whose frames have one pixel.
    private func animation(frames: Int) -> [UInt8] {
        let head: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 0]
        let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
        return head + (0..<frames).flatMap { _ in frame } + [0x3B]
    }

    @Test func `A picture comes back as pixels`() throws {
        let picture = try #require(try decode(animation(frames: 1)))
        #expect(picture.width == 1 && picture.height == 1 && picture.pixels.prefix(3) == [255, 0, 0])
    }

    @Test func `An animation of 10,000 frames is its first one`() throws {
        let began = ContinuousClock.now
        #expect(try decode(animation(frames: 10_000))?.width == 1)
        #expect(ContinuousClock.now - began < .seconds(7))
    }

    @Test func `A bomb, a truncated picture, and other formats are not decoded`() throws {
        // 50,000 x 50,000 pixels of 4 bytes.
        let bomb: [UInt8] =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
            + [0, 0, 0xC3, 0x50, 0, 0, 0xC3, 0x50, 8, 6, 0, 0, 0, 0x2F, 0x99, 0x5A, 0x6C]
        #expect(try decode(bomb) == nil)
        #expect(try decode([0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + Array("JFIF".utf8)) == nil)
        #expect(try decode([0x49, 0x49, 0x2A, 0, 8, 0, 0, 0]) == nil)
        #expect(try decode(Array("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>".utf8)) == nil)
        #expect(try decode([]) == nil)
    }

    @Test func `What is no file is not opened`() {
        #expect(Self.decoder.decode("/dev/zero") == nil && Self.decoder.decode("/nonexistent") == nil)
    }

    @Test(arguments: [
        PROBE_OPEN, PROBE_SOCKET, PROBE_FORK, PROBE_EXEC, PROBE_EXECUTABLE_MEMORY, PROBE_KILL, PROBE_UNLINK,
        PROBE_TRACE,
    ])
    func `A confined process is refused files, the network, processes and code`(_ call: CProbe_call) {
        #expect(probe(Int32(call.rawValue), 1) == EPERM)
    }

    @Test func `A confined process reads, and an unconfined one opens`() {
        #expect(probe(Int32(PROBE_READ.rawValue), 1) == 0 && probe(Int32(PROBE_OPEN.rawValue), 0) == 0)
    }

    @Test func `An output that is no picture is refused`() {
        #expect(DecodedPicture([]) == nil && DecodedPicture([UInt8](repeating: 0, count: 12)) == nil)
        #expect(DecodedPicture([1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 9, 9]) == nil)
        #expect(DecodedPicture([1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 9, 9, 9])?.pixels == [9, 9, 9])
    }
}
