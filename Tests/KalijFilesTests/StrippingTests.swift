import Foundation
import TestSupport
import Testing

@testable import KalijFiles

/// "EXIF, XMP, comments leave JPEG, PNG, WebP by walking their segments (orientation, colour profile stay)" (media 12)
struct StrippingTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func stripped(_ image: [UInt8], _ name: String = "x") throws -> [UInt8] {
        let file = try accept(scratch.write(image, to: name), in: scratch, id: UUID().uuidString)
        let result = try bytes(of: file.path)
        #expect(try file.sha256 == reference(result) && file.size == Int64(result.count) && file.isStripped)
        return result
    }

    private func has(_ text: String, _ bytes: [UInt8]) -> Bool { Data(bytes).range(of: Data(text.utf8)) != nil }

    @Test("nothing secret is left, and stripping again changes nothing", arguments: Samples.stripped.indices)
    func secrets(index: Int) throws {
        let image = Samples.stripped[index]
        try #require(has("SECRET", image))
        let result = try stripped(image)
        for text in ["SECRET", "xmp", "XMP", "GPS", "IPTC", "8BIM", "http:"] { #expect(!has(text, result), "\(text)") }
        #expect(result.count < image.count)
        #expect(try stripped(result) == result)
    }

    @Test("with metadata to keep, the bytes stay as they are", arguments: Samples.stripped.indices)
    func kept(index: Int) throws {
        let image = Samples.stripped[index]
        let file = try accept(scratch.write(image, to: "x"), in: scratch, keepingMetadata: true)
        #expect(try bytes(of: file.path) == image && !file.isStripped)
    }

    @Test("an orientation stays, other than the one that changes nothing; so do profile and colours")
    func appearance() throws {
        let turned = Orientation.prefix + (try #require(Orientation(exif: exif(6)))).exif
        #expect(Data(Samples.jpeg).range(of: Data(turned)) == nil)
        #expect(Data(try stripped(Samples.jpeg)).range(of: Data(turned)) != nil)
        for image in [Samples.restarting, Samples.progressive] { #expect(!has("Exif", try stripped(image))) }
        #expect(has("ICC_PROFILE", try stripped(Samples.profiled)))
        #expect(has("Adobe", try stripped(Samples.cmyk)))
        #expect(has("eXIf", try stripped(Samples.png)))
        let webP = try stripped(Samples.lossyWebP)
        #expect(has("EXIF", webP) && webP[20] & 0x0C == 0x08)
        #expect(try stripped(Samples.plainWebP) == Samples.plainWebP)
    }

    @Test("each orientation is read, in both orders of bytes; nonsense is none")
    func orientations() throws {
        for value in UInt8(2)...8 {
            #expect(Orientation(exif: exif(value))?.value == value)
            let little: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, value, 0, 0, 0]
            #expect(Orientation(exif: little)?.value == value)
        }
        for value: UInt8 in [0, 1, 9, 255] { #expect(Orientation(exif: exif(value)) == nil) }
        for count in 0..<20 { #expect(Orientation(exif: Array(exif(6).prefix(count))) == nil, "\(count)") }
        var wild = exif(6)
        wild.replaceSubrange(4..<8, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(Orientation(exif: wild) == nil)
    }

    private func exif(_ value: UInt8) -> [UInt8] {
        [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, value, 0, 0, 0, 0, 0, 0]
    }

    @Test("what stands after the image's end is dropped")
    func trailers() throws {
        let trailer = Array("SECRET video of a motion photo".utf8)
        for image in [Samples.jpeg, Samples.progressive, Samples.png, Samples.lossyWebP] {
            #expect(try stripped(image + trailer) == stripped(image))
        }
    }

    /// "the privacy promise says metadata leaves": what cannot be walked is refused, and the error says why.
    @Test("an image that is cut off at any length is refused, and nothing is left", arguments: Samples.stripped.indices)
    func cut(index: Int) throws {
        let image = Samples.stripped[index]
        // Each length near the beginning and the end, where the segments are.
        for count in 12..<image.count - 1
        where RandomInput.isLong || count < 300 || image.count - count < 100 || count % 5 == 0 {
            let path = try scratch.write(image.prefix(count), to: "cut")
            #expect(try strip(path, scratch.file("output")) == nil, "\(count)")
        }
        let path = try scratch.write(image.prefix(image.count / 2), to: "cut")
        let error = #expect(throws: FileError(.notStripped)) { try accept(path, in: scratch) }
        #expect(error?.description.contains("cut off") == true)
        #expect(scratch.names(in: "out").isEmpty)
    }

    @Test("each byte of an image may be wrong: nothing stops, and the result can be walked", arguments: [0, 1, 5, 6])
    func wrongBytes(index: Int) throws {
        let image = Samples.stripped[index]
        let output = scratch.file("output")
        for place in 2..<min(image.count, 900) {
            let values: [UInt8] = [0, 0xFF, image[place] ^ 0x20]
            for value in RandomInput.isLong ? values : [values[place % 3]] {
                var wrong = image
                wrong[place] = value
                let path = try scratch.write(wrong, to: "wrong")
                guard let once = try strip(path, output) else { continue }
                let again = try scratch.write(once, to: "once")
                #expect(try strip(again, output) == once, "\(place) \(value)")
            }
        }
    }

    /// The image without metadata, without waiting for the disk; nil if refused.
    private func strip(_ path: String, _ output: String) throws -> [UInt8]? {
        let (descriptor, _) = try Descriptor.openRegular(path)
        let source = SourceFile(descriptor, try descriptor.status())
        guard let format = StrippedFormat(beginning: try #require(try source.bytes(12))) else { return nil }
        source.rewind()
        let file = try OutputFile(Descriptor(output, O_RDWR | O_CREAT | O_TRUNC))
        do { try MetadataStripping.strip(source, as: format, into: file) } catch FileError(.notStripped) { return nil }
        _ = try file.finish()
        return try bytes(of: output)
    }

    @Test("lengths that lie are refused")
    func lyingLengths() throws {
        let images: [[UInt8]] = [
            [0xFF, 0xD8, 0xFF, 0xE1, 0xFF, 0xFF, 0], [0xFF, 0xD8, 0xFF, 0xE1, 0, 0], [0xFF, 0xD8, 0xFF, 0xE1, 0, 1],
            [0xFF, 0xD8, 0xFF, 0xD9], [0xFF, 0xD8, 0xFF, 0xFF, 0xFF], [0xFF, 0xD8, 0xFF, 0xFF, 0x05],
            PNGWalk.signature + [0xFF, 0xFF, 0xFF, 0xFF] + Array("IHDR".utf8),
            PNGWalk.signature + [0, 0, 0, 13] + Array("tEXt".utf8) + [UInt8](repeating: 0, count: 17),
            PNGWalk.signature + [0, 0, 0, 0] + Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82],
            Array("RIFF".utf8) + [0xFF, 0xFF, 0xFF, 0xFF] + Array("WEBPVP8 ".utf8) + [0, 0, 0, 0],
            Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBP".utf8),
            Array("RIFF".utf8) + [12, 0, 0, 0] + Array("WEBPVP8 ".utf8) + [0xFF, 0xFF, 0xFF, 0xFF],
        ]
        for image in images {
            #expect(throws: FileError(.notStripped), "\(image)") {
                try accept(scratch.write(image, to: "x"), in: scratch)
            }
        }
    }

    @Test(
        "a file that is named like an image, and is none, is refused, too",
        arguments: ["x.jpg", "x.PNG", "x.webp", "x.jpeg"])
    func namedLikeAnImage(name: String) throws {
        let junk = Array("junk".utf8) + Samples.jpeg
        #expect(throws: FileError(.notStripped)) { try accept(scratch.write(junk, to: name), in: scratch) }
        #expect(try accept(scratch.write(junk, to: name), in: scratch, keepingMetadata: true).size == junk.count)
    }

    @Test("the limit is for the bytes that are sent")
    func limit() throws {
        let size = Int64(try stripped(Samples.jpeg).count)
        let path = try scratch.write(Samples.jpeg, to: "x")
        #expect(try accept(path, in: scratch, limit: size).size == size)
        #expect(throws: FileError(.tooLarge)) { try accept(path, in: scratch, id: "b", limit: size - 1) }
        #expect(scratch.names(in: "out").count == 2)
    }

    @Test("widths and heights are those of the image as shown")
    func headers() throws {
        for (image, width, height) in [
            (Samples.jpeg, 16, 24), (Samples.progressive, 24, 16), (Samples.png, 24, 16), (Samples.gif, 24, 16),
            (Samples.lossyWebP, 24, 16), (Samples.plainWebP, 24, 16), (Samples.alphaWebP, 24, 16),
        ] {
            let file = try accept(scratch.write(image, to: "x"), in: scratch, id: UUID().uuidString)
            #expect(file.width == width && file.height == height)
            for count in 1..<image.count {
                _ = try ImageHeader(path: scratch.write(image.prefix(count), to: "cut"))
            }
        }
        #expect(try ImageHeader(path: scratch.write(sample(100), to: "x")) == nil)
        #expect(throws: FileError(.notRegular)) { try ImageHeader(path: "/dev/zero") }
    }

    @Test("over 100 megapixels is huge, and no product overflows")
    func huge() throws {
        var png = Samples.png
        png.replaceSubrange(16..<24, with: [0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF])
        #expect(try #require(try ImageHeader(path: scratch.write(png, to: "x"))).isHuge)
        png.replaceSubrange(16..<24, with: [0, 0, 0x27, 0x10, 0, 0, 0x27, 0x10])
        #expect(try !#require(try ImageHeader(path: scratch.write(png, to: "x"))).isHuge)
        png.replaceSubrange(16..<24, with: [0, 0, 0x27, 0x10, 0, 0, 0x27, 0x11])
        #expect(try #require(try ImageHeader(path: scratch.write(png, to: "x"))).isHuge)
    }
}
