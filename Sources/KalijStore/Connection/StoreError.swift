import CSQLite

import Glibc

/// Why an operation of the database failed.
///
/// Equality is by ``code``; ``message`` gives the error and the place, without any stored value.
public struct StoreError: Error, Equatable, CustomStringConvertible, Sendable {
    /// The kind of a failure. Extensible: switch with a default.
    public struct Code: Hashable, Sendable {
        let name: String
        /// The disk, or the space the database may take, is full.
        public static let full = Code(name: "full")
        /// Reading or writing the file failed.
        public static let inputOutput = Code(name: "I/O error")
        /// Another process held a lock for longer than the busy time-out.
        public static let busy = Code(name: "busy")
        /// Memory is exhausted.
        public static let outOfMemory = Code(name: "out of memory")
        /// The file or its directory cannot be opened or written.
        public static let cannotOpen = Code(name: "cannot open")
        /// The file is damaged.
        public static let corrupt = Code(name: "corrupt")
        /// The file is no SQLite database, or belongs to another program.
        public static let notOurs = Code(name: "not a Kalij database")
        /// The file was written by a newer version of this software.
        public static let newerVersion = Code(name: "newer version")
        /// A constraint of the schema does not hold.
        public static let constraint = Code(name: "constraint")
        /// A statement of an application touches what is not the application's.
        public static let notAllowed = Code(name: "not allowed")
        /// Anything else SQLite reports.
        public static let other = Code(name: "database error")
    }

    /// The kind of the failure.
    public let code: Code
    /// The error and the place, without any stored value.
    public let message: String

    /// A failure to throw.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public static func == (left: StoreError, right: StoreError) -> Bool { left.code == right.code }

    public var description: String { "\(code.name): \(message)" }

    /// Whether the machine is to blame, so that the same step can succeed later without any change.
    public var isMachineError: Bool {
        [.full, .inputOutput, .busy, .outOfMemory, .cannotOpen].contains(code)
    }

    /// The error of an open connection after `result`.
    init(_ result: Int32, on connection: OpaquePointer, doing what: String) {
        let path = sqlite3_db_filename(connection, "main").map { String(cString: $0) } ?? "the database"
        self.init(result, on: connection, at: path, doing: what)
    }

    /// - Parameter what: the attempted operation; useful only where the machine is not to blame.
    init(_ result: Int32, on connection: OpaquePointer?, at path: String, doing what: String) {
        let number = Self.systemError(result, on: connection, at: path)
        let text = String(cString: connection.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(result))
        switch result & 0xFF {
        case SQLITE_FULL: self.init(.full, "\(path): the disk is full")
        case _ where number == ENOSPC || number == EDQUOT: self.init(.full, "\(path): the disk is full")
        case SQLITE_READONLY: self.init(.cannotOpen, "\(path): the file, or its directory, may only be read")
        case SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_PERM:
            self.init(Self.code(of: result), "\(path): \(number == 0 ? text : String(cString: strerror(number)))")
        case SQLITE_BUSY, SQLITE_NOMEM, SQLITE_CORRUPT, SQLITE_NOTADB:
            self.init(Self.code(of: result), "\(path): \(text)")
        default: self.init(Self.code(of: result), "\(path): \(what): \(text)")
        }
    }

    /// The system's error, if there is one; otherwise 0. SQLite's own number can belong to the last of several
    /// attempts.
    private static func systemError(_ result: Int32, on connection: OpaquePointer?, at path: String) -> Int32 {
        guard [SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_PERM].contains(result & 0xFF) else { return 0 }
        let number = connection.map { sqlite3_system_errno($0) } ?? 0
        guard number == ENOENT, let slash = path.lastIndex(of: "/") else { return number }
        return access(String(path[..<slash]), W_OK) == 0 ? number : errno
    }

    private static func code(of result: Int32) -> Code {
        switch result & 0xFF {
        case SQLITE_FULL: .full
        case SQLITE_IOERR: .inputOutput
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL, SQLITE_INTERRUPT: .busy
        case SQLITE_NOMEM: .outOfMemory
        case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM: .cannotOpen
        case SQLITE_CORRUPT: .corrupt
        case SQLITE_NOTADB: .notOurs
        case SQLITE_CONSTRAINT: .constraint
        default: .other
        }
    }
}
