import KalijAddress
import KalijClient
import KalijStore

/// What is stored, and what an application shows of it.
extension DrivenAccount {
    /// The columns of all tables that the database has. A virtual table is stored in further tables, which count instead.
    package func columns() throws -> [(table: String, name: String)] {
        try database.prepare(
            """
            SELECT m.name AS name, c.name AS "column" FROM sqlite_schema m CROSS JOIN pragma_table_info(m.name) c
            WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND m.name NOT LIKE 'sqlite%'
            ORDER BY m.rowid, c.cid
            """
        ).all { ($0.text("name"), $0.text("column")) }
    }

    /// All tables with an expression for each column, for a query of all columns at once.
    package func tables(_ expression: (_ column: String) -> String) throws -> [(name: String, expressions: [String])] {
        var tables: [(name: String, expressions: [String])] = []
        for (table, column) in try columns() {
            if tables.last?.name != table { tables.append((table, [])) }
            tables[tables.count - 1].expressions.append(expression("\"\(column)\""))
        }
        return tables
    }

    /// All rows of all tables, as text.
    package func dump() throws -> [String] {
        try tables { "quote(\($0))" }.flatMap { table, values in
            try database.prepare("SELECT \(values.joined(separator: "||' '||")) FROM \"\(table)\"")
                .all { "\(table): \($0.text())" }
        }
    }

    /// The longest value of each column in bytes, but for those of messages themselves, and of what waits to be sent.
    package func largest() throws -> [(place: String, bytes: Int64)] {
        let messages: Set = [
            "message", "original", "notification", "sealed", "queue", "operation", "search_data", "quarantine",
        ]
        return try columns().filter { !messages.contains($0.table) }.map { table, column in
            let bytes =
                try database.prepare("SELECT max(length(CAST(\"\(column)\" AS BLOB))) FROM \"\(table)\"")
                .first { $0.optionalInteger() } ?? nil
            return ("\(table).\(column)", bytes ?? 0)
        }
    }

    /// Reads everything that an application shows.
    package func readAll() throws {
        let reader = HistoryReader(database)
        for conversation in try Conversations(directory).all() {
            _ = try reader.messages(of: account, with: JID.received(conversation.jid), limit: 100)
        }
        _ = try reader.messages(of: account, with: nil, limit: 1000)
        let rooms = Rooms(database)
        for room in try rooms.rooms(of: account) { _ = try rooms.occupants(of: room.jid, for: account) }
        _ = try rooms.invitations(of: account)
        let contacts = Contacts(database)
        _ = (try contacts.contacts(of: account), try contacts.requests(of: account))
    }
}
