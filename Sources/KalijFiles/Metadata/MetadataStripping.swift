/// Takes the metadata out of JPEG, PNG and WebP by walking their segments. Nothing is decoded, so pixels stay as they are.
///
/// EXIF (with the place where a photo was taken, and a preview), XMP, IPTC, comments, texts, times, data after the
/// image's end, and all parts of unknown meaning leave. Orientation, colour profile and resolution stay. Files of other
/// types, videos and HEIC among them, are not changed.
enum MetadataStripping {
    /// Copies `source` from its beginning, without metadata.
    /// - Throws: `FileError.notStripped` if the image is cut off, or is no image of its format; errors of the disk.
    static func strip(_ source: SourceFile, as format: StrippedFormat, into output: OutputFile) throws(FileError) {
        switch format {
        case .jpeg:
            var walk = JPEGWalk(source, output)
            try walk.run()
        case .png:
            var walk = PNGWalk(source, output)
            try walk.run()
        case .webP:
            var walk = WebPWalk(source, output)
            try walk.run()
        }
    }
}

/// A format whose metadata is taken out.
enum StrippedFormat {
    case jpeg, png, webP

    /// The format of a file that begins with `bytes`; nil if files of this format are left as they are.
    init?(beginning bytes: [UInt8]) {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: PNGWalk.signature) {
            self = .png
        } else if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
            self = .webP
        } else {
            return nil
        }
    }
}

extension FileError {
    /// The image's segments do not lead to its end.
    static func damaged(_ detail: String) -> FileError {
        FileError(.notStripped, detail)
    }

    static let cutOff = damaged("the image is cut off")
}

extension [UInt8] {
    /// The number of `count` bytes at `index`; nil if the bytes end before.
    func number(at index: Int, _ count: Int, bigEndian: Bool = true) -> UInt32? {
        guard index >= 0, count <= 4, index <= self.count, count <= self.count - index else { return nil }
        let bytes = self[index..<index + count]
        let ordered = bigEndian ? Array(bytes) : bytes.reversed()
        // fits: each element is a byte
        return ordered.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
