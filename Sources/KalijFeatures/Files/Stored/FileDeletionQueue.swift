import KalijCore
import KalijStore
import KalijText

/// A queue of files that no row refers to any more, by their names below `files`. The driver removes the files after the commit.
package struct FileDeletionQueue: Equatable {
    let id: Int64
    /// `out/UUID`, `in/ACCOUNT/NAME`, or a folder `in/ACCOUNT`.
    package let name: String

    package static let batchSize = 100

    static func add(_ name: String, in step: Step) throws {
        try step.database.run("INSERT INTO file_garbage(name) VALUES (?)", [.text(name)])
        step.filesChanged()
    }

    /// Whether an upload reads the file `name` below `files`, and removes it at its end.
    static func isUploaded(_ name: String, in database: Database) throws -> Bool {
        guard name.begins(with: "out/") else { return false }
        return try database.statement("SELECT 1 FROM upload WHERE file = ? LIMIT 1")
            .first([.text(String(name.dropFirst(4)))]) { _ in true } ?? false
    }

    package static func some(in database: Database) throws -> [FileDeletionQueue] {
        try database.statement("SELECT id, name FROM file_garbage ORDER BY id LIMIT ?")
            .all([.integer(Int64(batchSize))]) { FileDeletionQueue(id: $0.integer("id"), name: $0.text("name")) }
    }

    package static func removed(_ garbage: [FileDeletionQueue], in database: Database) throws {
        for file in garbage { try database.run("DELETE FROM file_garbage WHERE id = ?", [.integer(file.id)]) }
    }
}
