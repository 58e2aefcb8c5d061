import Glibc

/// The size of an image, read from its header. Nothing is decoded.
public struct ImageHeader: Equatable, Sendable {
    /// Pixels, as shown: after the rotation that the EXIF of a JPEG specifies.
    public let width: Int
    public let height: Int

    /// Whether the image has over 100 megapixels: a program that shows the image would need over 400 MB.
    public var isHuge: Bool {
        let (count, isOver) = width.multipliedReportingOverflow(by: height)
        return isOver || count > 100_000_000
    }

    /// Reads the header of a JPEG, PNG, GIF or WebP.
    /// - Returns: nil if the file is no such image, or the header is damaged, or not among the first 1,024 segments.
    /// - Throws: `FileError` if the file cannot be opened or read, or is not a regular file.
    public init?(path: String) throws(FileError) {
        try FileStatus(at: path, follows: true).requireRegular()
        let descriptor = try Descriptor(path, O_RDONLY | O_NONBLOCK)
        let status = try descriptor.status()
        try status.requireRegular()
        try self.init(SourceFile(descriptor, status))
    }

    /// - Parameter source: at its beginning.
    init?(_ source: SourceFile) throws(FileError) {
        guard let begin = try source.bytes(Int(min(30, source.left))) else { return nil }
        let size: (width: UInt32?, height: UInt32?)?
        switch StrippedFormat(beginning: begin) {
        case .jpeg:
            source.rewind()
            size = try Self.jpeg(source)
        case .png: size = (begin.number(at: 16, 4), begin.number(at: 20, 4))
        case .webP: size = Self.webP(begin)
        case nil where begin.starts(with: "GIF8".utf8):
            size = (begin.number(at: 6, 2, bigEndian: false), begin.number(at: 8, 2, bigEndian: false))
        case nil: size = nil
        }
        guard let width = size?.width, let height = size?.height, width > 0, height > 0 else { return nil }
        self.width = Int(width)
        self.height = Int(height)
    }

    /// The frame's header, after the segments before. Only the first EXIF is read, others are passed over.
    private static func jpeg(_ source: SourceFile) throws(FileError) -> (UInt32?, UInt32?)? {
        guard try source.skip(2) else { return nil }
        var orientation: Orientation?
        for _ in 0..<1024 {
            guard try source.byte() == 0xFF else { return nil }
            var marker = try source.byte()
            while marker == 0xFF { marker = try source.byte() }
            guard let marker, let length = try source.bytes(2)?.number(at: 0, 2), length >= 2 else { return nil }
            if JPEGWalk.Marker.isFrame(marker) {
                guard let frame = try source.bytes(5) else { return nil }
                let size = (frame.number(at: 3, 2), frame.number(at: 1, 2))
                return orientation?.isTurned == true ? (size.1, size.0) : size
            }
            if marker == 0xE1, orientation == nil, let bytes = try source.bytes(Int(length) - 2) {
                if bytes.starts(with: Orientation.prefix) { orientation = Orientation(exif: bytes) }
            } else if try !source.skip(Int64(length) - 2) {
                return nil
            }
        }
        return nil
    }

    /// RFC 9649, sections 2.5 to 2.7; RFC 6386, section 9.1.
    private static func webP(_ begin: [UInt8]) -> (UInt32?, UInt32?)? {
        guard begin.count >= 30 else { return nil }
        switch String(decoding: begin[12..<16], as: UTF8.self) {
        case "VP8X":
            return (
                begin.number(at: 24, 3, bigEndian: false).map { $0 + 1 },
                begin.number(at: 27, 3, bigEndian: false).map { $0 + 1 }
            )
        case "VP8 ":
            // The upper two bits specify a scaling.
            guard begin[23..<26] == [0x9D, 0x01, 0x2A] else { return nil }
            return (
                begin.number(at: 26, 2, bigEndian: false).map { $0 & 0x3FFF },
                begin.number(at: 28, 2, bigEndian: false).map { $0 & 0x3FFF }
            )
        case "VP8L":
            guard begin[20] == 0x2F, let bits = begin.number(at: 21, 4, bigEndian: false) else { return nil }
            return (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
        default: return nil
        }
    }
}
