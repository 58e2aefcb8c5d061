import KalijStore
import KalijStream
import KalijXML

/// A cache of entity capabilities by verified hashes, for all accounts and sessions.
struct EntityCapabilities {
    package let database: Database
    /// Milliseconds since 1970.
    package let now: Int64

    /// The maximum number of entries; the least recently used are removed first.
    package static let limit: Int64 = 1000
    /// The maximum size of an entry in bytes. Clients have 2 to 5 KiB.
    static let maxSize = 16 * 1024
    /// The resolution of the time of the last use, in milliseconds: not every presence causes a write.
    private static let day: Int64 = 24 * 3600 * 1000

    /// The capabilities with this hash; nil if they are not cached.
    func info(_ hash: String) throws -> DiscoveryInfo? {
        try database.statement("SELECT info FROM capability WHERE hash = ?").first([.text(hash)]) { $0.blob() }
            .flatMap(Self.read)
    }

    /// Stores the capabilities that were verified for `hash`.
    package func store(_ info: [UInt8], as hash: String) throws {
        try database.run(
            """
            INSERT INTO capability(hash, info, used_at) VALUES (?, ?, ?)
            ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at
            """, [.text(hash), .blob(info), .integer(now)])
        try database.run(
            """
            DELETE FROM capability WHERE id IN (SELECT id FROM capability ORDER BY used_at DESC, id DESC LIMIT -1 OFFSET ?)
            """, [.integer(Self.limit)])
    }

    /// Records that a hash was announced again; the previous announcement was at `time`.
    package func used(_ hash: String, before time: Int64) throws {
        guard now - time > Self.day || now < time else { return }
        try database.run("UPDATE capability SET used_at = ? WHERE hash = ?", [.integer(now), .text(hash)])
    }

    /// The stored form of a response, with the languages in effect for it; nil if it is too long.
    package static func bytes(_ info: DiscoveryInfo) -> [UInt8]? {
        let bytes = info.element().bytes(in: "jabber:client")
        return bytes.count <= maxSize ? bytes : nil
    }

    /// Parses the stored form.
    package static func read(_ bytes: [UInt8]) -> DiscoveryInfo? {
        (try? Element.parse(bytes)).flatMap { DiscoveryInfo($0) }
    }
}
