import Glibc

/// A failed system call, with the reason.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The operation, for example `connect`.
    public let operation: String
    /// The value of `errno`.
    public let code: Int32

    public init(_ operation: String, code: Int32 = errno) {
        self.operation = operation
        self.code = code
    }

    /// The system's own words for the code, starting in lower case: "connection refused".
    public var reason: String {
        // glibc's strerror is safe between threads since 2.32, and never returns null.
        guard let text = strerror(code) else { return "error \(code)" }
        let words = String(cString: text)
        return words.prefix(1).lowercased() + words.dropFirst()  // characters: words of the system.
    }

    public var description: String { "\(operation): \(reason)" }
}
