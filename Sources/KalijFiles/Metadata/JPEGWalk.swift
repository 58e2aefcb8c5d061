/// JPEG (ITU-T T.81, annex B): markers, most of them with a segment of at most 65,533 bytes.
///
/// Data after the end of the image is left out: previews of MPF, and the videos of motion photos.
struct JPEGWalk {
    private let source: SourceFile
    private let output: OutputFile
    private var hasFrame = false
    private var hasScan = false
    private var hasOrientation = false

    init(_ source: SourceFile, _ output: OutputFile) {
        self.source = source
        self.output = output
    }

    mutating func run() throws(FileError) {
        guard try source.bytes(2) == [0xFF, 0xD8] else { throw .damaged("no JPEG") }
        try output.write([0xFF, 0xD8])
        var next = try marker()
        while true {
            let marker = next
            switch marker {
            case Marker.end:
                guard hasFrame, hasScan else { throw .damaged("a JPEG without an image") }
                try output.write([0xFF, marker])
                return
            case Marker.scan:
                try keep(marker, try segment())
                hasScan = true
                next = try scan()
                continue
            case let marker where Marker.isFrame(marker):
                try keep(marker, try segment())
                hasFrame = true
            case let marker where Marker.tables.contains(marker): try keep(marker, try segment())
            case Marker.applications, Marker.comment: try application(marker, try segment())
            default: throw .damaged("an unknown marker")
            }
            next = try self.marker()
        }
    }

    /// The next marker's second byte. Fill bytes before are left out.
    private func marker() throws(FileError) -> UInt8 {
        guard let first = try source.byte() else { throw .cutOff }
        guard first == 0xFF else { throw .damaged("a marker is missing") }
        while true {
            guard let byte = try source.byte() else { throw .cutOff }
            if byte != 0xFF { return byte }
        }
    }

    /// The bytes of the marker's segment, without the length.
    private func segment() throws(FileError) -> [UInt8] {
        guard let length = try source.bytes(2)?.number(at: 0, 2) else { throw .cutOff }
        guard length >= 2 else { throw .damaged("a wrong length") }
        guard let bytes = try source.bytes(Int(length) - 2) else { throw .cutOff }
        return bytes
    }

    private func keep(_ marker: UInt8, _ bytes: [UInt8]) throws(FileError) {
        let length = bytes.count + 2
        try output.write([0xFF, marker, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)])
        try output.write(bytes)
    }

    private mutating func application(_ marker: UInt8, _ bytes: [UInt8]) throws(FileError) {
        switch marker {
        // JFIF, with the resolution, and without its preview.
        case 0xE0 where bytes.starts(with: Array("JFIF\0".utf8)) && bytes.count >= 14:
            try keep(marker, bytes.prefix(12) + [0, 0])
        case 0xE1 where bytes.starts(with: Orientation.prefix) && !hasOrientation:
            guard let orientation = Orientation(exif: bytes) else { return }
            hasOrientation = true
            try keep(marker, Orientation.prefix + orientation.exif)
        case 0xE2 where bytes.starts(with: Array("ICC_PROFILE\0".utf8)): try keep(marker, bytes)
        // Adobe's segment specifies the colour transform: without it CMYK is shown wrong.
        case 0xEE where bytes.starts(with: Array("Adobe".utf8)) && bytes.count >= 12:
            try keep(marker, Array(bytes.prefix(12)))
        default: return
        }
    }

    /// Copies the entropy-coded bytes of a scan. A 0xFF inside is followed by zero, or is a restart marker.
    /// - Returns: the marker after the scan.
    private func scan() throws(FileError) -> UInt8 {
        while true {
            guard let piece = try source.piece(before: 0xFF) else { throw .cutOff }
            guard piece.isEmpty else {
                try output.write(piece)
                continue
            }
            let marker = try marker()
            guard marker == 0 || (0xD0...0xD7).contains(marker) else { return marker }
            try output.write([0xFF, marker])
        }
    }

    enum Marker {
        static let end: UInt8 = 0xD9
        static let scan: UInt8 = 0xDA
        static let comment: UInt8 = 0xFE
        static let applications: ClosedRange<UInt8> = 0xE0...0xEF
        /// Huffman and arithmetic tables, quantization, number of lines, restart interval, hierarchy, expansion.
        static let tables: Set<UInt8> = [0xC4, 0xCC, 0xDB, 0xDC, 0xDD, 0xDE, 0xDF]

        /// The frame's header, with the size of the image.
        static func isFrame(_ marker: UInt8) -> Bool {
            (0xC0...0xCF).contains(marker) && ![0xC4, 0xC8, 0xCC].contains(marker)
        }
    }
}
