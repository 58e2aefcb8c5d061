import Glibc
import KalijText

/// The media type of a file: by its first bytes, else by its name, else `application/octet-stream`.
enum MediaType {
    static let unknown = "application/octet-stream"
    /// Bytes that are enough to determine a type.
    static let beginning = 64

    static func of(_ bytes: [UInt8], named name: String) -> String {
        let end = fileExtension(name)
        return signature(bytes, end) ?? named(end)
    }

    /// Whether a name promises an image whose metadata is taken out.
    static func isNamedLikeStripped(_ name: String) -> Bool {
        ["jpg", "jpeg", "png", "webp"].contains(fileExtension(name))
    }

    /// The part of a name after its last dot, in lower case; empty if there is none.
    private static func fileExtension(_ name: String) -> String {
        guard let dot = name.unicodeScalars.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return String(name.unicodeScalars[dot...].dropFirst()).lowercased()
    }

    /// - Parameter end: the extension, which decides between types of one container.
    private static func signature(_ bytes: [UInt8], _ end: String) -> String? {
        let has = { (text: String, offset: Int) in bytes.dropFirst(offset).starts(with: text.utf8) }
        switch StrippedFormat(beginning: bytes) {
        case .jpeg: return "image/jpeg"
        case .png: return "image/png"
        case .webP: return "image/webp"
        case nil: break
        }
        if has("ftyp", 4) { return isoMedia(String(decoding: bytes.dropFirst(8).prefix(4), as: UTF8.self), end) }
        if has("RIFF", 0) { return has("WAVE", 8) ? "audio/wav" : has("AVI ", 8) ? "video/x-msvideo" : nil }
        if has("OggS", 0) { return end == "ogv" ? "video/ogg" : "audio/ogg" }
        if bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return end == "mkv" ? "video/x-matroska" : "video/webm" }
        if bytes.starts(with: [0x1F, 0x8B]) { return "application/gzip" }
        return signatures.first { has($0.key, 0) }?.value
    }

    private static let signatures: KeyValuePairs = [
        "GIF8": "image/gif", "%PDF-": "application/pdf", "ID3": "audio/mpeg", "fLaC": "audio/flac",
        "#!AMR": "audio/amr",
        "II*\0": "image/tiff", "MM\0*": "image/tiff", "{\\rtf": "application/rtf",
    ]

    /// ISO base media files (ISO/IEC 14496-12) by their main brand.
    private static func isoMedia(_ brand: String, _ end: String) -> String {
        switch brand {
        case "heic", "heix", "heim", "heis": "image/heic"
        case "mif1", "msf1": "image/heif"
        case "avif", "avis": "image/avif"
        case "qt  ": "video/quicktime"
        case "M4A ", "M4B ": "audio/mp4"
        case _ where brand.begins(with: "3g"): "video/3gpp"
        default: end == "m4a" ? "audio/mp4" : "video/mp4"
        }
    }

    /// The type by the extension. Types of images are determined by their first bytes alone: a name does not make an image.
    private static func named(_ end: String) -> String {
        guard !end.isEmpty else { return unknown }
        return extensions[end] ?? systemTable(end) ?? unknown
    }

    private static let extensions: [String: String] = [
        "txt": "text/plain", "md": "text/markdown", "csv": "text/csv", "html": "text/html", "ics": "text/calendar",
        "vcf": "text/vcard", "json": "application/json", "xml": "application/xml", "svg": "image/svg+xml",
        "zip": "application/zip", "7z": "application/x-7z-compressed", "tar": "application/x-tar",
        "epub": "application/epub+zip", "mp3": "audio/mpeg", "aac": "audio/aac", "mp4": "video/mp4",
        "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odp": "application/vnd.oasis.opendocument.presentation", "gpx": "application/gpx+xml",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "apk": "application/vnd.android.package-archive",
        "jpg": unknown, "jpeg": unknown, "png": unknown, "webp": unknown, "gif": unknown,
    ]

    /// Debian's table: lines of a type and its extensions.
    private static func systemTable(_ end: String) -> String? {
        guard let file = fopen("/etc/mime.types", "re") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 1024)
        while fgets(&line, Int32(clamping: line.count), file) != nil {
            let text = line.withUnsafeBytes { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            let words = text.words
            guard let type = words.first, !type.begins(with: "#"), type.contains("/") else { continue }
            if words.dropFirst().contains(where: { $0 == end }) { return String(type) }
        }
        return nil
    }
}
