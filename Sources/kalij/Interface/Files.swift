import Glibc

/// Files named on the command line.
enum Files {
    /// The absolute path of `path`; the file must exist.
    static func absolute(existing path: String) throws -> String {
        guard let resolved = realpath(path, nil) else {
            throw Failure(.badInput, "\(path): \(String(cString: strerror(errno)))")
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Passes the bytes of `path` to `body`, or of standard input for nil or `-`, in chunks of at most 64 KiB.
    static func read(_ path: String?, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let descriptor = try open(path)
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        try withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
            while true {
                // The buffer is valid for this closure and holds `count` initialized bytes.
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count == 0 { return }
                if count < 0 {
                    if errno == EINTR { continue }
                    throw Failure(.badInput, "\(path ?? "standard input"): \(String(cString: strerror(errno)))")
                }
                try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }

    /// All bytes of `path`, at most `limit`.
    static func contents(_ path: String?, limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try read(path) { piece in
            guard bytes.count + piece.count <= limit else {
                throw Failure(.badInput, "\(path ?? "standard input") has more than \(limit) bytes")
            }
            bytes.append(contentsOf: piece)
        }
        return bytes
    }

    private static func open(_ path: String?) throws -> Int32 {
        guard let path, path != "-" else { return STDIN_FILENO }
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(.badInput, "\(path): \(String(cString: strerror(errno)))") }
        return descriptor
    }
}
