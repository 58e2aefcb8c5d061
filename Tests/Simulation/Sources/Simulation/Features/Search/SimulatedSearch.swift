import KalijStore

@testable import KalijCore
@testable import KalijFeatures

extension Violation.Promise {
    /// Stored texts are found by their words.
    static let search = Violation.Promise("search")
}

/// The search of the client: no part of the server.
final class SimulatedSearch: SimulatedFeature {
    init(_ server: SimulatedServer) {}

    /// Each text up to the index's place is found by its words, and nothing else is.
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] {
        let place = try SearchIndex(database: database).place()
        let rows = try database.prepare("SELECT id, body FROM message WHERE body IS NOT NULL AND id <= \(place)")
            .all { (row: $0.integer("id"), text: $0.text("body")) }
        let texts = Dictionary(uniqueKeysWithValues: rows)
        return try Set(texts.values).sorted().flatMap { text -> [Violation] in
            let found = try database.prepare("SELECT rowid FROM search_text WHERE search_text MATCH ?")
                .all([.text("\"" + text + "\"")]) { SearchKey(number: $0.integer()).row }
            let missed = rows.filter { $0.text == text && !found.contains($0.row) }
            let wrong = found.filter { texts[$0]?.contains(text) != true }
            return missed.map { Violation(.search, "\"\(text)\" in row \($0.row) is not found") }
                + wrong.map { Violation(.search, "\"\(text)\" is found in row \($0)") }
        }
    }
}
