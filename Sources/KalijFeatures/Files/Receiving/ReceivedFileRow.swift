import KalijCore
import KalijStore

/// The file of a message, as stored.
package struct ReceivedFileRow {
    /// The row of the message.
    package let message: Int64
    /// An HTTPS URL; empty if the sender has specified none.
    package let url: String
    /// The nonce, of 12 or 16 bytes, followed by the key (``FileAddress/key``); nil if the file is not encrypted.
    package let key: [UInt8]?
    package let description: FileDescription
    package var state: MessageFile.State
    /// The path of the stored file below `files`.
    package var name: String?
    /// The directory of the database.
    private let directory: String
    package var problem: String?
    /// In milliseconds of the steady time.
    package var notBefore: Int64
    package var failures: Int64
    /// Whether the download is automatic, without a request of the user: then only a small file is fetched.
    package var isAutomatic: Bool
    /// The validator of the first response (RFC 9110 section 8.8): a partial file belongs to this version alone.
    package var validator: String?
    /// The intent that waits for the file.
    package var intent: String?

    init(_ row: Row, beside database: String) {
        directory = database.lastIndex(of: "/").map { String(database[..<$0]) } ?? "."
        message = row.integer("message")
        url = row.text("url")
        key = row.optionalBlob("key")
        description = FileDescription(
            name: row.optionalText("name"), type: row.optionalText("type"), size: row.optionalInteger("size"),
            sha256: row.optionalBlob("sha256"), width: row.optionalInteger("width"),
            height: row.optionalInteger("height"))
        state = MessageFile.State(rawValue: row.text("state")) ?? .offered
        name = row.optionalText("path")
        problem = row.optionalText("problem")
        notBefore = row.integer("not_before")
        failures = row.integer("failures")
        isAutomatic = row.bool("automatic")
        validator = row.optionalText("validator")
        intent = row.optionalText("intent")
    }

    /// The problem of a file without an address.
    static let withoutAddress = "the sender has named no address of https"
    var isFetchable: Bool { !url.isEmpty }

    /// A name for human readers, and the basis of the name of the stored file.
    package var suggestedName: String {
        description.name ?? FileAddress(url: url, key: nil).lastPart
    }

    /// The form for applications.
    package var file: MessageFile {
        MessageFile(
            name: suggestedName.isEmpty ? nil : suggestedName, type: description.type, size: description.size,
            width: description.width,
            height: description.height, isEncrypted: key != nil, state: state,
            path: name.map { "\(directory)/files/\($0)" }, problem: isFetchable ? problem : Self.withoutAddress)
    }
}

/// The stored files of messages.
package struct ReceivedFileRows {
    package let database: Database

    package init(database: Database) { self.database = database }

    package func row(of message: Int64) throws -> ReceivedFileRow? {
        try database.statement(
            """
            SELECT message, url, key, name, type, size, sha256, width, height, state, path, problem, not_before, failures,
                automatic, validator, intent
            FROM attachment WHERE message = ?
            """
        ).first([.integer(message)]) { ReceivedFileRow($0, beside: database.path) }
    }

    func insert(
        _ file: SharedFile, of message: Int64, _ account: Int64, state: MessageFile.State, automatic: Bool
    ) throws {
        let description = file.description
        try database.run(
            """
            INSERT OR IGNORE INTO attachment(message, account, url, key, name, type, size, sha256, width, height, state, automatic)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(message), .integer(account), .text(file.address.url), .optional(file.address.key),
                .optional(description.name), .optional(description.type), .optional(description.size),
                .optional(description.sha256), .optional(description.width), .optional(description.height),
                .state(state), .integer(automatic ? 1 : 0),
            ])
    }

    func set(_ row: ReceivedFileRow) throws {
        try database.run(
            """
            UPDATE attachment SET state = ?, path = ?, problem = ?, not_before = ?, failures = ?, automatic = ?, validator = ?,
                intent = ? WHERE message = ?
            """,
            [
                .state(row.state), .optional(row.name), .optional(row.problem), .integer(row.notBefore),
                .integer(row.failures), .integer(row.isAutomatic ? 1 : 0), .optional(row.validator),
                .optional(row.intent), .integer(row.message),
            ])
    }

    func remove(_ message: Int64) throws {
        try database.run("DELETE FROM attachment WHERE message = ?", [.integer(message)])
    }

    /// The wanted files of `account` that are due at `now`, oldest first; at most `limit`.
    /// - Parameter automatic: whether to return automatic downloads, or those that the user has requested.
    package func due(
        of account: Int64, at now: Int64, automatic: Bool, limit: Int64
    ) throws -> [ReceivedFileRow] {
        try database.statement(
            """
            SELECT message, url, key, name, type, size, sha256, width, height, state, path, problem, not_before, failures,
                automatic, validator, intent
            FROM attachment WHERE account = ? AND state = 'wanted' AND not_before <= ? AND automatic = ?
            ORDER BY not_before, message LIMIT ?
            """
        ).all([.integer(account), .integer(now), .integer(automatic ? 1 : 0), .integer(limit)]) {
            ReceivedFileRow($0, beside: database.path)
        }
    }

    /// When the next wanted file of `account` is due; nil if none is wanted.
    package func nextDue(of account: Int64) throws -> Int64? {
        try database.statement("SELECT min(not_before) FROM attachment WHERE account = ? AND state = 'wanted'")
            .first([.integer(account)]) { $0.optionalInteger() } ?? nil
    }

    /// Whether a process that ends by itself has to fetch a file before: a requested download that is due at once.
    func hasOutstandingWork(by account: Int64) throws -> Bool {
        try database.statement(
            "SELECT 1 FROM attachment WHERE account = ? AND state = 'wanted' AND not_before = 0 AND automatic = 0 LIMIT 1"
        ).first([.integer(account)]) { _ in true } ?? false
    }

    /// Whether the file `name` below `files` belongs to a message.
    package func isKnown(_ name: String) throws -> Bool {
        try database.statement("SELECT 1 FROM attachment WHERE path = ? LIMIT 1").first([.text(name)]) { _ in true }
            ?? false
    }

    /// The number of stored received files, and their bytes; of at most 10,000 files.
    package func stored(of account: Int64) throws -> (count: Int64, bytes: Int64) {
        try database.statement(
            """
            SELECT count(*) AS count, coalesce(sum(size), 0) AS bytes FROM (
                SELECT size FROM attachment WHERE account = ? AND state = 'stored' LIMIT 10000)
            """
        ).first([.integer(account)]) { ($0.integer("count"), $0.integer("bytes")) } ?? (0, 0)
    }

    /// Some messages whose files are stored, the newest first.
    /// - Parameter message: the messages before it; nil for all.
    func messages(storedBy account: Int64, before message: Int64?, limit: Int) throws -> [Int64] {
        try database.statement(
            """
            SELECT message FROM attachment WHERE account = ? AND state = 'stored' AND message < ?
            ORDER BY message DESC LIMIT ?
            """
        ).all([.integer(account), .integer(message ?? .max), .integer(Int64(limit))]) { $0.integer() }
    }
}
