import KalijStore

extension PushDatabase {
    /// How far other nodes' streams were read.
    /// - Throws: `StoreError`.
    func positions() throws -> [ReadPosition] {
        try database.statement("SELECT server, node, entry FROM position").all { row in
            ReadPosition(
                server: row.text("server"), node: row.text("node"),
                entry: UInt64(bitPattern: row.integer("entry")))
        }
    }

    /// The nodes whose records count no more.
    /// - Throws: `StoreError`.
    func excludedNodes() throws -> [String] {
        try database.statement("SELECT name FROM node WHERE forgotten = 0").all { $0.text("name") }
    }

    func keep(_ position: ReadPosition) throws {
        // If a forgotten node was added again, its former records are removed first.
        if position.entry > 0, try isForgotten(position.node) { try removeRecords(of: position.node) }
        try database.run(
            """
            INSERT INTO position(server, node, entry) VALUES (?, ?, ?)
            ON CONFLICT (server, node) DO UPDATE SET entry = excluded.entry
            """,
            [.text(position.server), .text(position.node), .integer(Int64(bitPattern: position.entry))])
    }

    func exclude(_ node: String, _ isForgotten: Bool) throws {
        try database.run("DELETE FROM position WHERE node = ?", [.text(node)])
        try database.run(
            """
            INSERT INTO node(name, forgotten) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET forgotten = excluded.forgotten
            """,
            [.text(node), .integer(isForgotten ? 1 : 0)])
    }

    private func isForgotten(_ node: String) throws -> Bool {
        try database.statement("SELECT 1 FROM node WHERE name = ? AND forgotten = 1").first([.text(node)]) { _ in true }
            ?? false
    }

    private func removeRecords(of node: String) throws {
        try database.run("DELETE FROM block WHERE origin = ? AND origin != ''", [.text(node)])
        try database.run("DELETE FROM node WHERE name = ?", [.text(node)])
    }

    /// Removes a part of the records of nodes that count no more.
    /// - Returns: how many were removed.
    func cleanUpNodes() throws -> Int {
        var removed = 0
        let nodes = try database.statement("SELECT name, forgotten FROM node").all {
            (name: $0.text("name"), isForgotten: $0.integer("forgotten") == 1)
        }
        for node in nodes {
            try database.run(
                """
                DELETE FROM block WHERE key IN (SELECT key FROM block WHERE origin = ? AND origin != '' LIMIT 500)
                """, [.text(node.name)])
            removed = max(removed, Int(database.changes))
            if database.changes == 0, node.isForgotten { try removeRecords(of: node.name) }
        }
        return removed
    }
}
