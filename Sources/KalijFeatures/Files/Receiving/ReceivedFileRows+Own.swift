import KalijStore

extension ReceivedFileRows {
    /// An own file without its name yet: `out/UUID`, the copy that was uploaded.
    package struct OwnFile: Equatable {
        package let message: Int64
        /// Below `files`.
        package let name: String
    }

    /// The own files of `account` without their names; at most `limit`, or all if it is negative.
    package func unnamed(of account: Int64, limit: Int64) throws -> [OwnFile] {
        try database.statement(
            """
            SELECT message, path FROM attachment
            WHERE path >= 'out/' AND path < 'out0' AND account = ? ORDER BY path LIMIT ?
            """
        ).all([.integer(account), .integer(limit)]) { OwnFile(message: $0.integer("message"), name: $0.text("path")) }
    }
}
