import CDecode
import Glibc

/// Decodes a stranger's picture: reads it from standard input, and writes the width, the height, the channels (3 or 4), each of 4 bytes,
/// and the pixels to standard output. With `--codes`, writes the contents of its QR codes instead, each after its length of 4 bytes.
/// The process has no files, no network, 64 MB and 5 s.
enum Decoder {
    private static let readsCodes = CommandLine.arguments.dropFirst().first == "--codes"
    private static let maxSide = readsCodes ? Codes.maxSide : 400
    private static let maxMemory: rlim_t = 64 << 20
    private static let maxSeconds: UInt32 = 5
    /// All frames of an animation are read, and only the first one is decoded.
    private static let maxAnimation = 4 << 20

    /// - Returns: the exit status: 65 for a picture that cannot be decoded, 71 if the process cannot be confined.
    static func run() -> Int32 {
        // The arguments are in a file: they are read before the process is confined.
        let readsCodes = readsCodes
        var begin = [UInt8](repeating: 0, count: 1 << 14)
        let count = readAll(&begin)
        // The loader is loaded before the process is confined; the first bytes name it, and nothing else is parsed.
        guard let format = format(begin.prefix(count)), let loader = gdk_pixbuf_loader_new_with_type(format, nil) else {
            return 65
        }
        guard confine() else { return 71 }
        kalij_on_size(loader) { loader, width, height, _ in
            let longest = max(width, height)
            guard longest > Decoder.maxSide, let loader else { return }
            let scale = Double(Decoder.maxSide) / Double(longest)
            gdk_pixbuf_loader_set_size(
                loader, max(1, Int32(Double(width) * scale)), max(1, Int32(Double(height) * scale)))
        }
        guard feed(loader, begin, count, limit: format == "gif" ? maxAnimation : .max),
            let decoded = gdk_pixbuf_loader_get_pixbuf(loader),
            let upright = gdk_pixbuf_apply_embedded_orientation(decoded)
        else { return 65 }
        return (readsCodes ? writeCodes(of: upright) : write(upright)) ? 0 : 74
    }

    /// The loader's name for a picture that begins with `bytes`; nil for a format that is not decoded.
    private static func format(_ bytes: ArraySlice<UInt8>) -> String? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "jpeg" }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "png" }
        if bytes.starts(with: Array("GIF87a".utf8)) || bytes.starts(with: Array("GIF89a".utf8)) { return "gif" }
        let isRIFF = bytes.starts(with: Array("RIFF".utf8))
        return isRIFF && bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) ? "webp" : nil
    }

    // MARK: Limits

    private static func confine() -> Bool {
        guard let size = addressSpace() else { return false }
        var memory = rlimit(rlim_cur: size + maxMemory, rlim_max: size + maxMemory)
        var seconds = rlimit(rlim_cur: rlim_t(maxSeconds), rlim_max: rlim_t(maxSeconds))
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        alarm(maxSeconds)
        return setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &memory) == 0
            && setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &seconds) == 0
            && setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 && kalij_close_others() == 0
            && kalij_confine() == 0
    }

    /// The bytes of the process's address space.
    private static func addressSpace() -> rlim_t? {
        guard let file = fopen("/proc/self/statm", "r") else { return nil }
        defer { fclose(file) }
        var bytes = [CChar](repeating: 0, count: 64)
        guard fgets(&bytes, Int32(bytes.count), file) != nil else { return nil }
        let line = String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return rlim_t(line.prefix { $0 != " " }).map { $0 * rlim_t(sysconf(Int32(_SC_PAGESIZE))) }
    }

    // MARK: Bytes

    /// Fills `bytes`, unless the input ends before.
    private static func readAll(_ bytes: inout [UInt8]) -> Int {
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes {
                read(STDIN_FILENO, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            guard more > 0 else { break }
            count += more
        }
        return count
    }

    /// - Returns: whether the whole picture was decoded.
    private static func feed(
        _ loader: UnsafeMutablePointer<GdkPixbufLoader>, _ begin: [UInt8], _ count: Int, limit: Int
    ) -> Bool {
        var (bytes, count, total) = (begin, count, 0)
        while count > 0, total < limit {
            guard gdk_pixbuf_loader_write(loader, bytes, gsize(count), nil) != 0 else { return false }
            total += count
            count = readAll(&bytes)
        }
        let isWhole = gdk_pixbuf_loader_close(loader, nil) != 0
        return isWhole || total >= limit
    }

    private static func write(_ picture: OpaquePointer) -> Bool {
        let (width, height) = (gdk_pixbuf_get_width(picture), gdk_pixbuf_get_height(picture))
        let channels = gdk_pixbuf_get_n_channels(picture)
        guard gdk_pixbuf_get_bits_per_sample(picture) == 8, let pixels = gdk_pixbuf_read_pixels(picture) else {
            return false
        }
        var head = [UInt32(width).littleEndian, UInt32(height).littleEndian, UInt32(channels).littleEndian]
        guard writeAll(&head, 12) else { return false }
        let (row, stride) = (Int(width * channels), Int(gdk_pixbuf_get_rowstride(picture)))
        for line in 0..<Int(height) where !writeAll(pixels + line * stride, row) { return false }
        return true
    }

    private static func writeCodes(of picture: OpaquePointer) -> Bool {
        for content in Codes.read(picture) {
            var length = UInt32(content.count).littleEndian
            guard writeAll(&length, 4), writeAll(content, content.count) else { return false }
        }
        return true
    }

    private static func writeAll(_ bytes: UnsafeRawPointer, _ count: Int) -> Bool {
        var written = 0
        while written < count {
            let more = Glibc.write(STDOUT_FILENO, bytes + written, count - written)
            guard more > 0 else { return false }
            written += more
        }
        return true
    }
}
