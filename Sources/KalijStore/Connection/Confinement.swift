import CSQLite

/// Restricts the statements of an application to the tables of applications.
///
/// While preparing a statement, SQLite calls the authorizer for each action of the statement, and rejects the statement if an
/// action is denied. The guard is against mistakes: code in the same process can always open the file by itself.
final class Confinement {
    /// The allowed actions.
    enum Limits {
        /// Reading and changing rows in the tables of the given applications.
        case rows(of: [String])
        /// Making and changing tables of the given application, and rows in them.
        case tables(of: String)
    }

    private var limits: Limits?
    /// The last refusal, in words.
    private var refusal: String?

    /// - Parameter handle: of the connection, which is closed before this object is freed.
    init(of handle: OpaquePointer) {
        // lives: as long as the database, which owns this object and closes the connection before the object is freed
        sqlite3_set_authorizer(
            handle,
            { context, action, first, second, _, _ in
                guard let context else { return SQLITE_OK }
                let confinement = Unmanaged<Confinement>.fromOpaque(context).takeUnretainedValue()
                return confinement.answer(
                    action, first.map { String(cString: $0) } ?? "", second.map { String(cString: $0) } ?? "")
            },
            Unmanaged.passUnretained(self).toOpaque())  // lives: as above
    }

    /// Runs `body`; statements prepared by `body` may do no more than `limits` permit.
    func hold<Result>(_ limits: Limits, _ body: () throws -> Result) throws -> Result {
        (self.limits, refusal) = (limits, nil)
        defer { self.limits = nil }
        do {
            return try body()
        } catch let error as StoreError {
            guard let refusal else { throw error }
            throw StoreError(.notAllowed, "\(refusal): \(error.message)")
        }
    }

    /// The prefix of the names of an application's tables: the application's name, with an underscore for each character that is
    /// neither letter nor digit.
    static func prefix(of application: String) -> String {
        String(application.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    private func answer(_ action: Int32, _ first: String, _ second: String) -> Int32 {
        guard let limits else { return SQLITE_OK }
        let isAllowed =
            switch limits {
            case .rows(let applications): mayTouchRows(action, first, second, of: applications)
            case .tables(let application): mayChange(action, first, second, of: application)
            }
        guard !isAllowed else { return SQLITE_OK }
        if refusal == nil { refusal = refusalText(action, first, limits) }
        return SQLITE_DENY
    }

    private func mayTouchRows(_ action: Int32, _ table: String, _ column: String, of applications: [String]) -> Bool {
        switch action {
        case SQLITE_SELECT, SQLITE_FUNCTION, SQLITE_RECURSIVE: true
        // A reference to an account, so that rows are deleted with their account.
        case SQLITE_READ where table == "account" && column == "id": true
        case SQLITE_READ, SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
            applications.contains { Self.isOwn(table, of: $0) }
        default: false
        }
    }

    private func mayChange(_ action: Int32, _ first: String, _ second: String, of application: String) -> Bool {
        switch action {
        case SQLITE_CREATE_TABLE, SQLITE_DROP_TABLE, SQLITE_CREATE_VIEW, SQLITE_DROP_VIEW, SQLITE_CREATE_VTABLE,
            SQLITE_DROP_VTABLE, SQLITE_ANALYZE:
            Self.isOwn(first, of: application)
        // The table is the second argument.
        case SQLITE_CREATE_INDEX, SQLITE_DROP_INDEX, SQLITE_CREATE_TRIGGER, SQLITE_DROP_TRIGGER:
            Self.isOwn(second, of: application)
                && (Self.isOwn(first, of: application) || first.hasPrefix("sqlite_autoindex_"))
        // The database is the first argument.
        case SQLITE_ALTER_TABLE: Self.isOwn(second, of: application)
        case SQLITE_REINDEX: true
        // SQLite's own lists, changed by no other statements than those above.
        case SQLITE_READ, SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
            first.hasPrefix("sqlite_") || mayTouchRows(action, first, second, of: [application])
        default: mayTouchRows(action, first, second, of: [application])
        }
    }

    private static func isOwn(_ table: String, of application: String) -> Bool {
        let (table, prefix) = (table.lowercased(), prefix(of: application))
        return table == prefix || table.hasPrefix(prefix + "_")
    }

    private func refusalText(_ action: Int32, _ name: String, _ limits: Limits) -> String {
        let prefixes =
            switch limits {
            case .rows(let applications): applications.map(Self.prefix).joined(separator: ", ")
            case .tables(let application): Self.prefix(of: application)
            }
        return switch action {
        case SQLITE_TRANSACTION, SQLITE_SAVEPOINT: "the transaction is the step's"
        case SQLITE_PRAGMA, SQLITE_ATTACH, SQLITE_DETACH: "the connection is the engine's"
        default: "\(name) is no table of the application; names of its tables and indexes begin with: \(prefixes)"
        }
    }
}
