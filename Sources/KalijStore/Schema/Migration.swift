/// One change of a database's tables.
///
/// A database keeps the names of those that were made in it, so each is made once. A released migration keeps its name and its
/// script for ever.
public struct Migration: Sendable {
    /// Unique in a database: what it belongs to and a number, `messages/2`. Kalij's own names have no full stop before the slash;
    /// an application's begin with a domain of its author, `org.example.bot/1`, and are no sign of a newer version of Kalij.
    public let name: String
    let script: String
    /// Databases of this version and of later ones, from before migrations had names, have it.
    let version: Int?

    /// - Parameters:
    ///   - name: see ``name``.
    ///   - version: of the databases, from before migrations had names, that have it.
    ///   - script: SQL statements. They change tables of the same owner, or of owners that stand before it in the schema.
    public init(_ name: String, version: Int? = nil, _ script: String) {
        self.name = name
        self.version = version
        self.script = script
    }

    /// Whether a migration of that name is an application's.
    static func isApplications(_ name: String) -> Bool { name.prefix { $0 != "/" }.contains(".") }
}
