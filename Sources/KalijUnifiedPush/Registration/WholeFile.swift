import Glibc

/// A file that is replaced as a whole: a reader, and a process that is killed, leave or find the former contents or the new ones.
enum WholeFile {
    /// - Throws: `RegistrationFile.Problem`; the former contents stay.
    static func replace(_ path: String, with bytes: [UInt8], mode: mode_t) throws(RegistrationFile.Problem) {
        let new = path + ".new"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw RegistrationFile.Problem(new) }
        defer { close(descriptor) }
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0, rename(new, path) == 0
        else {
            let problem = RegistrationFile.Problem(new)
            unlink(new)
            throw problem
        }
    }
}
