#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How a directory of accounts, and so every file that is made in it, is kept from others.
///
/// On Linux by its mode (``OwnerOnly``). On Apple's systems the directory also gets a protection class, which its files inherit:
/// `completeUntilFirstUserAuthentication`, because a push may start a process while the device is locked.
public protocol FileProtection: Sendable {
    /// Makes one directory, whose parent exists.
    /// - Throws: `SystemFailure`; one that exists is no failure.
    func makeDirectory(_ path: String) throws(SystemFailure)
}

/// Linux's: only the owner may look into it. The database makes its files for the owner alone by itself.
public struct OwnerOnly: FileProtection {
    /// The same for all directories.
    public init() {}

    public func makeDirectory(_ path: String) throws(SystemFailure) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        throw SystemFailure(path: path, reason: String(cString: strerror(errno)))
    }
}

/// What the system did not do with a file.
public struct SystemFailure: Error, CustomStringConvertible, Sendable {
    /// The file.
    public let path: String
    /// What the system says.
    public let reason: String

    /// What an application's own ``FileProtection`` throws.
    public init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    public var description: String { "\(path): \(reason)" }
}
