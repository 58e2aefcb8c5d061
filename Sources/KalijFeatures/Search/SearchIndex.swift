import KalijCore
import KalijStore

/// The index of the words of all texts: FTS5 without a copy of the texts.
///
/// FTS5 removes a text by its words, so a change has to specify exactly the indexed text. It records a removal beside the words; they
/// are removed from the file when FTS5 merges both, which takes time proportional to the size of the index. Therefore erased words are
/// no longer found from the step of the erasure on, and removed from the file soon after (``work()``).
package struct SearchIndex {
    package let database: Database

    package init(database: Database) { self.database = database }

    /// The newest indexed row.
    func place() throws -> Int64 { try progress().place }

    // MARK: In steps

    /// Updates the index after the text of a message was changed, or erased if `text` is nil.
    func textChanged(of row: Int64, from old: String?, to text: String?) throws {
        if try row <= place() {
            if let old { try remove(old, of: row) }
            if let text { try add(text, of: row) }
            if text == nil, old != nil {
                try database.run("DELETE FROM search_row WHERE id = ?", [.integer(row)])
                try database.run("UPDATE search_progress SET erased = 1")
            }
        }
    }

    /// Empties the index because an account is removed. It is rebuilt with the texts of the other accounts.
    func clear() throws {
        try database.run("INSERT INTO search_text(search_text) VALUES ('delete-all')")
        try database.run("DELETE FROM search_row")
        try database.run("UPDATE search_progress SET place = 0, erased = 0, cleaning = 0")
    }

    // MARK: Background work

    /// The number of rows that are indexed in a transaction: some milliseconds, during which no other connection can write.
    private static let batchSize: Int64 = 250
    /// The number of pages of the index that are merged in a transaction.
    private static let pages: Int64 = 16

    /// Performs a part of the work in the present transaction.
    /// - Returns: whether more work remains.
    package func work() throws -> Bool { try indexNext() || cleanNext() }

    /// Whether work remains.
    package func hasWork() throws -> Bool {
        let progress = try progress()
        return try progress.place < newestRow() || progress.isErased || progress.isCleaning
    }

    /// Indexes the next texts.
    /// - Returns: false if there were none.
    private func indexNext() throws -> Bool {
        let texts = try MessageReader.texts(after: try place(), limit: Self.batchSize, in: database)
        guard let last = texts.last?.row else { return false }
        for (row, text) in texts { if let text { try add(text, of: row) } }
        try database.run("UPDATE search_progress SET place = ?", [.integer(last)])
        return true
    }

    /// Removes erased words from the file.
    /// - Returns: false if there are none.
    private func cleanNext() throws -> Bool {
        let progress = try progress()
        guard progress.isErased || progress.isCleaning else { return false }
        // A negative number begins a merge of the whole index, a positive number continues it. Words erased meanwhile require another
        // merge.
        let begins = !progress.isCleaning
        let before = database.totalChanges
        try database.run(
            "INSERT INTO search_text(search_text, rank) VALUES ('merge', ?)",
            [.integer(begins ? -Self.pages : Self.pages)])
        // SQLite's documentation of the command: the merge is complete if fewer than two rows were changed.
        let isDone = database.totalChanges - before < 2
        try database.run(
            "UPDATE search_progress SET erased = (erased AND NOT ?1), cleaning = NOT ?2",
            [.integer(begins ? 1 : 0), .integer(isDone ? 1 : 0)])
        return true
    }

    // MARK: Rows

    private struct Progress {
        let place: Int64
        let isErased: Bool
        let isCleaning: Bool
    }

    private func progress() throws -> Progress {
        try database.statement("SELECT place, erased, cleaning FROM search_progress").first {
            Progress(place: $0.integer("place"), isErased: $0.bool("erased"), isCleaning: $0.bool("cleaning"))
        } ?? Progress(place: 0, isErased: false, isCleaning: false)
    }

    private func newestRow() throws -> Int64 { try MessageReader.newestRow(in: database) }

    private func add(_ text: String, of row: Int64) throws {
        guard let entry = try entry(of: row) ?? newEntry(of: row) else { return }
        try database.run(
            "INSERT INTO search_text(rowid, body, scope) VALUES (?, ?, ?)",
            [.integer(entry.key.number), .text(SearchText.indexed(text)), .text(entry.scope)])
    }

    private func remove(_ text: String, of row: Int64) throws {
        guard let entry = try entry(of: row) else { return }
        try database.run(
            "INSERT INTO search_text(search_text, rowid, body, scope) VALUES ('delete', ?, ?, ?)",
            [.integer(entry.key.number), .text(SearchText.indexed(text)), .text(entry.scope)])
    }

    /// How the text of a row is indexed.
    private struct Entry {
        let key: SearchKey
        let scope: String
    }

    private func entry(of row: Int64) throws -> Entry? {
        try database.statement("SELECT key, account, conversation FROM search_row WHERE id = ?").first([.integer(row)])
        {
            Entry(
                key: SearchKey(number: $0.integer("key")),
                scope: SearchScope.indexed($0.integer("account"), $0.integer("conversation")))
        }
    }

    private func newEntry(of row: Int64) throws -> Entry? {
        guard let place = try MessageReader.textPlace(of: row, in: database),
            let key = SearchKey(row: row, at: place.sentAt)
        else { return nil }
        let conversation = SearchScope.hash(place.account, place.conversation)
        try database.run(
            "INSERT INTO search_row(id, key, account, conversation) VALUES (?, ?, ?, ?)",
            [.integer(row), .integer(key.number), .integer(place.account), .integer(conversation)])
        return Entry(key: key, scope: SearchScope.indexed(place.account, conversation))
    }

    /// The number of the text of `row` in the index; nil if it is not indexed.
    func key(of row: Int64) throws -> SearchKey? { try entry(of: row)?.key }
}
