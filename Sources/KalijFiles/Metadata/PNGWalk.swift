/// PNG (W3C, third edition, section 5): chunks of a length, a type of four letters, bytes and a CRC. APNG's are among them.
///
/// Kept chunks keep their bytes and their CRC.
struct PNGWalk {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private let source: SourceFile
    private let output: OutputFile
    private var hasData = false
    private var hasOrientation = false

    init(_ source: SourceFile, _ output: OutputFile) {
        self.source = source
        self.output = output
    }

    mutating func run() throws(FileError) {
        guard try source.bytes(8) == Self.signature else { throw .damaged("no PNG") }
        try output.write(Self.signature)
        var isFirst = true
        while true {
            guard let head = try source.bytes(8), let length = head.number(at: 0, 4) else { throw .cutOff }
            let type = String(decoding: head[4...], as: UTF8.self)
            guard isFirst == (type == "IHDR"), !isFirst || length == 13 else { throw .damaged("a wrong header") }
            isFirst = false
            try chunk(type, head, length)
            if type == "IEND" { break }
        }
        guard hasData else { throw .damaged("a PNG without an image") }
    }

    private mutating func chunk(_ type: String, _ head: [UInt8], _ length: UInt32) throws(FileError) {
        // Section 5.3: the length is below 2^31.
        guard length < 1 << 31 else { throw .damaged("a wrong length") }
        let whole = Int64(length) + 4
        if Self.kept.contains(type) {
            hasData = hasData || type == "IDAT"
            try output.write(head)
            guard try output.copy(whole, from: source) else { throw .cutOff }
        } else if type == "eXIf", !hasOrientation {
            try orientation(whole)
        } else {
            // Section 5.4: the fifth bit of the first letter indicates that an image can be shown without the chunk.
            guard head[4] & 0x20 != 0 else { throw .damaged("an unknown chunk") }
            guard try source.skip(whole) else { throw .cutOff }
        }
    }

    /// Replaces EXIF by EXIF with the orientation alone.
    private mutating func orientation(_ length: Int64) throws(FileError) {
        // The first 64 KiB have the directory in all files that were seen.
        let read = min(length, Int64(SourceFile.chunk))
        guard length <= source.left, let exif = try source.bytes(Int(read)), try source.skip(length - read) else {
            throw .cutOff
        }
        guard let orientation = Orientation(exif: exif), let checksum = Self.checksums[orientation.value] else {
            return
        }
        hasOrientation = true
        try output.write([0, 0, 0, UInt8(truncatingIfNeeded: orientation.exif.count)])
        try output.write("eXIf".utf8)
        try output.write(orientation.exif)
        try output.write(checksum)
    }

    /// The chunks that affect how the image looks, of the third edition, its drafts and APNG.
    private static let kept: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "bKGD", "pHYs", "acTL", "fcTL",
        "fdAT", "cICP", "mDCV", "mDCv", "cLLI", "cLLi",
    ]

    /// The CRC of `eXIf` with `Orientation.exif`, for each orientation: constants instead of a library for seven numbers.
    private static let checksums: [UInt8: [UInt8]] = [
        2: [0x22, 0x28, 0x6F, 0x7A], 3: [0x84, 0x5F, 0x64, 0xCE], 4: [0x41, 0xF8, 0x5A, 0x40],
        5: [0xE7, 0x8F, 0x51, 0xF4], 6: [0xD6, 0x67, 0x4B, 0x69], 7: [0x70, 0x10, 0x40, 0xDD],
        8: [0x86, 0x58, 0x30, 0x34],
    ]
}
