import Glibc

/// The error of the last failed system call, as text.
func lastSystemError() -> String {
    String(cString: strerror(errno))
}

/// Reads a file from `offset` to its present end. A missing file has no bytes.
func readBytes(of path: String, from offset: Int = 0) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    if offset > 0, lseek(descriptor, off_t(offset), SEEK_SET) < 0 { return [] }
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return result }
        result.append(contentsOf: buffer[..<count])
    }
}

/// Reads a whole file as text; bytes outside UTF-8 are replaced.
func readText(of path: String) -> String {
    String(decoding: readBytes(of: path), as: UTF8.self)
}

/// Writes a new file, or overwrites an old file.
/// - Throws: ``LaboratoryError`` with the system's reason.
func writeText(_ text: String, to path: String, mode: mode_t = 0o600) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw LaboratoryError("cannot write \(path): \(lastSystemError())") }
    defer { close(descriptor) }
    try writeAll(Array(text.utf8), to: descriptor, name: path)
}

/// Writes all bytes to a descriptor, in any number of calls.
func writeAll(_ bytes: [UInt8], to descriptor: Int32, name: String) throws {
    var written = 0
    while written < bytes.count {
        let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw LaboratoryError("cannot write to \(name): \(lastSystemError())") }
        written += count
    }
}

/// Makes a directory, unless already there.
func makeDirectory(_ path: String) throws {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
        throw LaboratoryError("cannot make the directory \(path): \(lastSystemError())")
    }
}
