import CSQLite

/// A prepared statement of one connection; used by that connection's thread alone.
public final class Statement {
    // Owned: finalized in deinit. The connection outlives it, because a Database drops its statements before it closes.
    private let handle: OpaquePointer
    private let connection: OpaquePointer
    private let sql: String

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
        lend(values[...]) { bound in
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
        try lending(values) { while try step() { try body(Row(handle: handle)) } }
    }

    /// Calls `body` with each row as long as it returns true; the rows behind that are not read.
    public func prefix(_ values: [Value] = [], while body: (Row) throws -> Bool) throws {
        try lending(values) { while try step(), try body(Row(handle: handle)) {} }
    }

    /// The first row as `body` reads it, or nil if there is none.
    public func first<Result>(_ values: [Value] = [], _ body: (Row) throws -> Result) throws -> Result? {
        try lending(values) { try step() ? body(Row(handle: handle)) : nil }
    }

    /// All rows as `body` reads them.
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

    private func lending<Output>(_ values: [Value], _ body: () throws -> Output) throws -> Output {
        var result: Result<Output, any Error>?
        lend(values[...]) { bound in
            result = Result {
                try check(bound)
                return try body()
            }
        }
        guard let result else { throw StoreError(.other, "binding to \"\(sql)\"") }
        return try result.get()
    }

    /// Binds `values` without copying their bytes, and calls `body` once, with SQLite's result code of binding.
    ///
    /// SQLite keeps the addresses. They hold while the bytes are lent, and that is until `body` has returned and the statement
    /// is reset with nothing bound to it: the innermost call does that, before any of the calls that lend has ended.
    private func lend(_ values: ArraySlice<Value>, _ body: (Int32) -> Void) {
        func next(_ bound: Int32) {
            guard bound == SQLITE_OK else { return end(bound) }
            lend(values.dropFirst(), body)
        }
        func end(_ bound: Int32) {
            body(bound)
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        guard let value = values.first else { return end(SQLITE_OK) }
        let index = Int32(truncatingIfNeeded: values.startIndex) + 1  // fits: SQLite takes at most 32,766 values
        switch value {
        case .null: next(sqlite3_bind_null(handle, index))
        case .integer(let integer): next(sqlite3_bind_int64(handle, index, integer))
        case .text(var text):
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    next(kalij_lend_text(handle, index, $0.baseAddress ?? Self.empty, Int32(clamping: $0.count)))
                }
            }
        case .blob(let bytes):
            bytes.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return next(sqlite3_bind_zeroblob(handle, index, 0)) }
                next(kalij_lend_blob(handle, index, base, Int32(clamping: bytes.count)))
            }
        }
    }

    // An address for the empty text, whose buffer may have none; a NULL address would bind NULL. Never freed, never written.
    private nonisolated(unsafe) static let empty: UnsafePointer<CChar> = {
        let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        byte.initialize(to: 0)
        return UnsafePointer(byte)
    }()
}

/// One row of a result, lent to a closure.
public struct Row {
    // Valid during the closure that the row is lent to; the statement is not stepped meanwhile.
    let handle: OpaquePointer

    /// The integer in `column`; 0 if it is NULL.
    public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    /// Whether the integer in `column` is not 0.
    public func bool(_ column: Int32) -> Bool { integer(column) != 0 }
    /// The integer in `column`, or nil if it is NULL.
    public func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
    /// The text in `column`; empty if it is NULL.
    public func text(_ column: Int32) -> String { optionalText(column) ?? "" }

    /// The text in `column`, or nil if it is NULL; bytes that are no UTF-8 are replaced.
    public func optionalText(_ column: Int32) -> String? {
        guard let bytes = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// The blob in `column`, or nil if it is NULL.
    public func optionalBlob(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }

    /// The blob in `column`; empty if it is NULL.
    public func blob(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// Whether `column` is NULL.
    public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
}
