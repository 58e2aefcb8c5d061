import CSQLite

/// A prepared statement of a connection; used by the connection's thread alone.
public final class Statement {
    // Owned: finalized in deinit. The connection outlives the statement, because a Database drops its statements before
    // closing.
    fileprivate let handle: OpaquePointer
    private let connection: OpaquePointer
    fileprivate let sql: String
    /// The column after the column last read by name: most rows are read in the order of their columns.
    private var nextColumn: Int32 = 0

    init(_ sql: String, on connection: OpaquePointer, persistent: Bool) throws(StoreError) {
        var handle: OpaquePointer?
        let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let result = sqlite3_prepare_v3(connection, sql, -1, flags, &handle, nil)
        guard result == SQLITE_OK, let handle else {
            throw StoreError(result, on: connection, doing: "preparing \"\(sql)\"")
        }
        self.handle = handle
        self.connection = connection
        self.sql = sql
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs the statement to its end, ignoring rows.
    public func run(_ values: [Value] = []) throws(StoreError) {
        var failure: StoreError?
        lend(values) { bound in
            do throws(StoreError) {
                try check(bound)
                while try step() {}
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Calls `body` with each row; the row is valid during the call only.
    public func each(_ values: [Value] = [], _ body: (Row) throws -> Void) throws {
        try lending(values) { while try step() { try body(Row(self)) } }
    }

    /// Calls `body` with each row as long as `body` returns true; later rows are not read.
    public func prefix(_ values: [Value] = [], while body: (Row) throws -> Bool) throws {
        try lending(values) { while try step(), try body(Row(self)) {} }
    }

    /// The first row, read by `body`; nil if there is none.
    @inlinable
    public func first<Result>(_ values: [Value] = [], _ body: (Row) throws -> Result) throws -> Result? {
        var result: Result?
        try prefix(values) {
            result = try body($0)
            return false
        }
        return result
    }

    /// All rows, read by `body`.
    @inlinable
    public func all<Result>(_ values: [Value] = [], _ body: (Row) throws -> Result) throws -> [Result] {
        var results: [Result] = []
        try each(values) { results.append(try body($0)) }
        return results
    }

    private func step() throws(StoreError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let result: throw StoreError(result, on: connection, doing: "running \"\(sql)\"")
        }
    }

    private func check(_ bound: Int32) throws(StoreError) {
        guard bound == SQLITE_OK else { throw StoreError(bound, on: connection, doing: "binding to \"\(sql)\"") }
    }

    /// Not generic: looking up types for each result would take as long as a short query.
    private func lending(_ values: [Value], _ body: () throws -> Void) throws {
        var failure: (any Error)?
        lend(values) { bound in
            do {
                try check(bound)
                try body()
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Binds `values`, and calls `body` once, with SQLite's result code of binding.
    ///
    /// SQLite keeps the addresses of texts and blobs, whose bytes are in one temporary allocation until `body` has returned, and the
    /// statement is reset with nothing bound.
    private func lend(_ values: [Value], _ body: (Int32) -> Void) {
        // Not empty: an empty text needs an address, too, because NULL would bind NULL.
        withUnsafeTemporaryAllocation(byteCount: values.reduce(1) { $0 + $1.size }, alignment: 1) { bytes in
            body(bind(values, in: bytes))
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
    }

    private func bind(_ values: [Value], in bytes: UnsafeMutableRawBufferPointer) -> Int32 {
        guard var free = bytes.baseAddress else { return SQLITE_NOMEM }
        var index: Int32 = 0
        for value in values {
            index += 1  // fits: SQLite takes at most 32,766 values
            let bound =
                switch value {
                case .null: sqlite3_bind_null(handle, index)
                case .integer(let integer): sqlite3_bind_int64(handle, index, integer)
                case .text(var text):
                    text.withUTF8 { text in
                        let copy = Self.copy(UnsafeRawBufferPointer(text), to: &free)
                        return kalij_lend_text(handle, index, copy, Int32(clamping: text.count))
                    }
                case .blob(let blob):
                    blob.withUnsafeBytes { blob in
                        kalij_lend_blob(handle, index, Self.copy(blob, to: &free), Int32(clamping: blob.count))
                    }
                }
            guard bound == SQLITE_OK else { return bound }
        }
        return SQLITE_OK
    }

    /// Copies `bytes` to `free`, which is the place behind the copy then.
    /// - Returns: the address of the copy.
    private static func copy(
        _ bytes: UnsafeRawBufferPointer, to free: inout UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        let copy = free
        if let address = bytes.baseAddress { copy.copyMemory(from: address, byteCount: bytes.count) }
        free += bytes.count
        return copy
    }
}

extension Statement {
    /// The result's column called `name`; nil if there is none.
    fileprivate func column(_ name: StaticString) -> Int32? {
        let count = sqlite3_column_count(handle)
        for offset in 0..<count {
            let column = (nextColumn + offset) % count
            if isCalled(name, column) {
                nextColumn = column + 1
                return column
            }
        }
        return nil
    }

    private func isCalled(_ name: StaticString, _ column: Int32) -> Bool {
        guard let known = sqlite3_column_name(handle, column) else { return false }
        // A static string holds forever and ends with a zero byte; SQLite's name holds until the statement is finalized.
        let wanted = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        return sqlite3_stricmp(wanted, known) == 0
    }
}

/// A row of a result, lent to a closure.
///
/// A column is read by its name in the result: `SELECT id, count(*) AS number` has `id` and `number`. The only column
/// of a result needs no name.
public struct Row {
    // The statement is not stepped while the row's closure runs.
    private let statement: Statement

    fileprivate init(_ statement: Statement) { self.statement = statement }

    private var handle: OpaquePointer { statement.handle }

    /// The integer in the column called `name`; 0 for NULL.
    public func integer(_ name: StaticString? = nil) -> Int64 { sqlite3_column_int64(handle, column(name)) }
    /// Whether the integer in the column called `name` is not 0.
    public func bool(_ name: StaticString? = nil) -> Bool { integer(name) != 0 }
    /// The integer in the column called `name`, or nil for NULL.
    public func optionalInteger(_ name: StaticString? = nil) -> Int64? {
        let column = column(name)
        return isNull(column) ? nil : sqlite3_column_int64(handle, column)
    }
    /// The text in the column called `name`; empty for NULL.
    public func text(_ name: StaticString? = nil) -> String { optionalText(name) ?? "" }

    /// The text in the column called `name`, or nil for NULL; bytes that are no UTF-8 are replaced.
    public func optionalText(_ name: StaticString? = nil) -> String? {
        let column = column(name)
        guard let bytes = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// The blob in the column called `name`, or nil for NULL.
    public func optionalBlob(_ name: StaticString? = nil) -> [UInt8]? {
        let column = column(name)
        return isNull(column) ? nil : blob(at: column)
    }

    /// The blob in the column called `name`; empty for NULL.
    public func blob(_ name: StaticString? = nil) -> [UInt8] { blob(at: column(name)) }

    /// Whether the column called `name` is NULL.
    public func isNull(_ name: StaticString? = nil) -> Bool { isNull(column(name)) }

    private func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    private func blob(at column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// Without a name the first column.
    private func column(_ name: StaticString?) -> Int32 {
        guard let name else { return 0 }
        guard let column = statement.column(name) else {
            // traps: name and statement are both written in this program's sources; nothing from outside makes either.
            preconditionFailure("\"\(statement.sql)\" has no column \(name)")
        }
        return column
    }
}
