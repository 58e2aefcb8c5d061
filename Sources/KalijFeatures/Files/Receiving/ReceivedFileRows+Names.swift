import FoundationEssentials
import KalijStore

extension ReceivedFileRows {
    /// The names of the files that the messages in `rows` share, empty without a name: a single query.
    package func names(of rows: [Int64]) throws -> [Int64: String] {
        let list = String(decoding: try JSONEncoder().encode(rows), as: UTF8.self)
        let names = try database.statement(
            "SELECT a.message, a.name FROM json_each(?) CROSS JOIN attachment a ON a.message = value"
        ).all([.text(list)]) { ($0.integer("message"), $0.text("name")) }
        return Dictionary(names) { first, _ in first }
    }
}
