import KalijCore
import KalijStore

/// Searches the texts of all stored messages by their words.
///
/// Storing a message does not update the index: the driver indexes stored texts a little later, in separate transactions
/// (``SearchIndex/work()``). A search also covers the texts that are not indexed yet. A changed or erased text is removed from the
/// index in the step of the change.
enum SearchFeature: Feature, AccountObserver, StoredMessageObserver, ServiceProvider {
    static let name = "search"

    static let migrations = [
        Migration(
            "search/1",
            """
            -- The words of the texts of all messages, by the number of the message's row; no second copy of the texts.
            CREATE VIRTUAL TABLE search_text USING fts5(body, content='', columnsize=0,
                tokenize='unicode61 remove_diacritics 2');
            -- The progress of the index: a single row.
            CREATE TABLE search_progress(
                id INTEGER PRIMARY KEY CHECK (id = 1),
                place INTEGER NOT NULL,         -- the newest indexed row: exactly the texts up to here are in the index
                erased INTEGER NOT NULL,        -- whether words were erased that are still in the file
                cleaning INTEGER NOT NULL);     -- whether words are being removed from the file
            INSERT INTO search_progress VALUES (1, 0, 0, 0);
            """),
        Migration(
            "search/2",
            """
            -- The words as `SearchText` cuts them, with signs and marks. The index is filled again.
            DROP TABLE search_text;
            CREATE VIRTUAL TABLE search_text USING fts5(body, content='', columnsize=0,
                tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'");
            UPDATE search_progress SET place = 0, erased = 0, cleaning = 0;
            """),
        Migration(
            "search/3",
            """
            -- Beginnings of words, of all accounts, newest first (`SearchKey`). `scope`: account and conversation (`SearchScope`). The
            -- index is filled again.
            DROP TABLE search_text;
            CREATE VIRTUAL TABLE search_text USING fts5(body, scope, content='', columnsize=0, prefix='1 2 3',
                tokenize="unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'");
            UPDATE search_progress SET place = 0, erased = 0, cleaning = 0;
            -- How each text is indexed: FTS5 removes a text by all that was indexed of it.
            CREATE TABLE search_row(
                id INTEGER PRIMARY KEY,         -- the number of the message's row
                key INTEGER NOT NULL,           -- the number of the text in the index
                account INTEGER NOT NULL,
                conversation INTEGER NOT NULL); -- a hash
            """),
    ]

    static func didChangeBody(of row: Int64, from old: String?, to text: String?, in step: Step) throws {
        try SearchIndex(database: step.database).textChanged(of: row, from: old, to: text)
    }

    // A process that only fetches or only sends is small, and its time is short.
    static func directoryService(for host: any ServiceHost) -> (any FeatureService)? {
        host.role == .main ? SearchIndexer(host) : nil
    }

    static func willRemoveAccount(in step: Step) throws { try SearchIndex(database: step.database).clear() }
}
