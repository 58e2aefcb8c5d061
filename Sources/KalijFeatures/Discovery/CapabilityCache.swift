import KalijStore
import KalijStream
import KalijXML

/// What entities say of themselves, by verified hashes of it: for all accounts, and over sessions.
struct CapabilityCache {
    package let database: Database
    /// Milliseconds since 1970.
    package let now: Int64

    /// How many are kept; the ones that were not seen for longest go.
    package static let limit: Int64 = 1000
    /// The largest that is kept, in bytes. Clients have 2 to 5 KiB.
    static let largest = 16 * 1024
    /// How exact the time of the last use is, in milliseconds: not each presence is to write.
    private static let day: Int64 = 24 * 3600 * 1000

    /// What stands behind a hash; nil if that is not known.
    func info(_ hash: String) throws -> DiscoveryInfo? {
        try database.statement("SELECT info FROM capability WHERE hash = ?").first([.text(hash)]) { $0.blob() }
            .flatMap(Self.read)
    }

    /// Stores what `hash` was verified to stand for.
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

    /// Notes that a hash was met that was last met at `time`.
    package func used(_ hash: String, before time: Int64) throws {
        guard now - time > Self.day || now < time else { return }
        try database.run("UPDATE capability SET used_at = ? WHERE hash = ?", [.integer(now), .text(hash)])
    }

    /// What an answer says as it is stored, with the languages that were in effect around it; nil if it is too long.
    package static func bytes(_ info: DiscoveryInfo) -> [UInt8]? {
        let bytes = info.element().bytes(in: "jabber:client")
        return bytes.count <= largest ? bytes : nil
    }

    /// Reads what was stored.
    package static func read(_ bytes: [UInt8]) -> DiscoveryInfo? {
        (try? Element.parse(bytes)).flatMap { DiscoveryInfo($0) }
    }
}
