import Glibc

/// How a directory of accounts, with every file inside, is kept from others.
///
/// On Linux by its mode (``OwnerOnly``). On Apple's systems the directory also gets a protection class, inherited by
/// its files: `completeUntilFirstUserAuthentication`, because a push may start a process while the device is locked.
public protocol FileProtection: Sendable {
    /// Makes a directory; the parent exists.
    /// - Throws: `SystemFailure`; an existing directory is no failure.
    func makeDirectory(_ path: String) throws(SystemFailure)

    /// Refuses a directory where others could replace the files.
    /// - Throws: `SystemFailure`
    func checkDirectory(_ path: String) throws(SystemFailure)
}

extension FileProtection {
    /// Where the system keeps applications apart there is nothing to refuse.
    public func checkDirectory(_ path: String) throws(SystemFailure) {}
}

/// Linux's: only the owner may look inside. The database makes its files for the owner alone by itself.
public struct OwnerOnly: FileProtection {
    /// The same for all directories.
    public init() {}

    public func makeDirectory(_ path: String) throws(SystemFailure) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        throw SystemFailure(path: path, reason: String(cString: strerror(errno)))
    }

    /// Refuses the directory of another user, and a directory where everybody may write. The superuser's directory, as of a container's
    /// volume, is no other user's.
    public func checkDirectory(_ path: String) throws(SystemFailure) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        if status.st_uid != geteuid(), status.st_uid != 0 {
            throw SystemFailure(
                path: path, reason: "the directory belongs to another user, who could replace what is stored")
        }
        if status.st_mode & S_IWOTH != 0 {
            throw SystemFailure(
                path: path,
                reason: "everybody can write there, and could replace what is stored; `chmod 700` mends that")
        }
    }
}

/// A failed operation of the system on a file.
public struct SystemFailure: Error, CustomStringConvertible, Sendable {
    /// The file.
    public let path: String
    /// The system's reason.
    public let reason: String

    /// For an application's own ``FileProtection``.
    public init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    public var description: String { "\(path): \(reason)" }
}
