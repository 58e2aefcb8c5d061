/// WebP (RFC 9649, section 2): a RIFF file of chunks, each a type of four characters, a length and bytes, made even.
///
/// The file's length, and the flags for metadata, precede the chunks: both are corrected at the end.
struct WebPWalk {
    private let source: SourceFile
    private let output: OutputFile
    private var hasImage = false
    // The place of the flags in the new file, and the flags; nil in the simple forms of the format.
    private var flags: (place: Int64, value: UInt8)?
    private var hasOrientation = false

    init(_ source: SourceFile, _ output: OutputFile) {
        self.source = source
        self.output = output
    }

    mutating func run() throws(FileError) {
        guard let head = try source.bytes(12), let size = head.number(at: 4, 4, bigEndian: false),
            StrippedFormat(beginning: head) == .webP
        else { throw .damaged("no WebP") }
        // The length counts from after itself.
        let end = Int64(size) + 8
        guard end <= source.status.size else { throw .cutOff }
        try output.write(head)
        while source.position < end {
            guard end - source.position >= 8, let head = try source.bytes(8),
                let length = head.number(at: 4, 4, bigEndian: false)
            else { throw .damaged("a wrong length") }
            // The byte that makes a chunk even may be missing at the end.
            let whole = min(Int64(length) + Int64(length & 1), end - source.position)
            guard Int64(length) <= whole else { throw .damaged("a wrong length") }
            try chunk(head, whole)
        }
        guard hasImage else { throw .damaged("a WebP without an image") }
        try finish()
    }

    private mutating func chunk(_ head: [UInt8], _ length: Int64) throws(FileError) {
        switch String(decoding: head[..<4], as: UTF8.self) {
        case "VP8X": try extended(head, length)
        case "VP8 ", "VP8L", "ANMF":
            hasImage = true
            try keep(head, length)
        case "ALPH", "ANIM", "ICCP": try keep(head, length)
        case "EXIF" where flags != nil && !hasOrientation: try orientation(length)
        default:
            guard try source.skip(length) else { throw .cutOff }
        }
    }

    private func keep(_ head: [UInt8], _ length: Int64) throws(FileError) {
        try output.write(head)
        guard try output.copy(length, from: source) else { throw .cutOff }
        if length & 1 != 0 { try output.write([0]) }
    }

    /// The header of the extended form: its flags for EXIF and XMP are cleared.
    private mutating func extended(_ head: [UInt8], _ length: Int64) throws(FileError) {
        guard flags == nil, length == 10, var bytes = try source.bytes(10) else { throw .damaged("a wrong header") }
        bytes[0] &= ~(Self.exifFlag | Self.xmpFlag)
        flags = (output.count + 8, bytes[0])
        try output.write(head + bytes)
    }

    private mutating func orientation(_ length: Int64) throws(FileError) {
        let read = min(length, Int64(SourceFile.chunk))
        guard length <= source.left, let exif = try source.bytes(Int(read)), try source.skip(length - read) else {
            throw .cutOff
        }
        guard let orientation = Orientation(exif: exif) else { return }
        hasOrientation = true
        try output.write("EXIF".utf8)
        try output.write([UInt8(truncatingIfNeeded: orientation.exif.count), 0, 0, 0])
        try output.write(orientation.exif)
    }

    private func finish() throws(FileError) {
        // fits: the source's length has 32 bits, and the new file is longer by a byte at most.
        guard let size = UInt32(exactly: output.count - 8) else { throw .damaged("a wrong length") }
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: size >> ($0 * 8)) }
        try output.patch(bytes, at: 4)
        if let flags, hasOrientation { try output.patch([flags.value | Self.exifFlag], at: flags.place) }
    }

    private static let exifFlag: UInt8 = 0x08
    private static let xmpFlag: UInt8 = 0x04
}
