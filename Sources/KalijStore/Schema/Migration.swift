/// A change of a database's tables.
///
/// A database keeps the names of its migrations, so each migration runs once. A released migration keeps its name and
/// its script forever.
public struct Migration: Sendable {
    /// Unique in a database: the owner and a number, `messages/2`. Kalij's own names have no full stop before the
    /// slash; an application's begin with a domain of its author, `org.example.bot/1`, and are no sign of a newer
    /// version of Kalij.
    public let name: String
    let script: String
    /// Databases of this version and of later versions, from before migrations had names, already have this migration.
    let version: Int?

    /// - Parameters:
    ///   - name: see ``name``.
    ///   - version: the first version of the databases, from before migrations had names, with this migration.
    ///   - script: SQL statements. They change tables of the same owner, or of earlier owners in the schema.
    public init(_ name: String, version: Int? = nil, _ script: String) {
        self.name = name
        self.version = version
        self.script = script
    }

    /// Notes that an application's feature drives the database, whether or not it has tables.
    /// - Parameter application: the feature's name.
    package init(presenceOf application: String) { self.init(application + "/0", "") }

    /// The names of the tables that the migration makes.
    var tables: [String] {
        let words = script.utf8.split { " \n\t(;".utf8.contains($0) }.map(Substring.init)
        return zip(words, words.dropFirst()).enumerated().compactMap { place, pair in
            guard pair.1 == "TABLE", ["CREATE", "VIRTUAL"].contains(pair.0) else { return nil }
            return words.dropFirst(place + 2).first { !["IF", "NOT", "EXISTS"].contains($0) }.map(String.init)
        }
    }

    /// The table of this schema's, or of SQLite's, that an application of the name `application` would own or that would own one
    /// of the application's, by their names; nil if there is none.
    package static func table(owning application: String, in migrations: [Migration]) -> String? {
        let prefix = Confinement.prefix(of: application)
        return (migrations.flatMap(\.tables) + ["fence", "migration", "sqlite"]).first {
            $0 == prefix || $0.hasPrefix(prefix + "_") || prefix.hasPrefix($0 + "_")
        }
    }

    /// The application that a migration of this name belongs to; nil for a migration of Kalij's.
    static func application(_ name: String) -> String? {
        let owner = name.prefix { $0 != "/" }
        return owner.contains(".") ? String(owner) : nil
    }
}
