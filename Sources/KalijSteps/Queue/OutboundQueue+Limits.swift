import KalijStore

/// What the server takes.
extension OutboundQueue {
    /// Bytes that every server takes (RFC 6120 13.12).
    private static let alwaysTaken = 10_000

    /// The most bytes that are sent where the server has not announced how many it takes: servers drop the stream over a larger
    /// stanza, and 64 KiB is the smallest limit among the defaults of the servers we know.
    package static let usuallyTaken = 60_000

    /// The most bytes of a stanza: as the server has announced (XEP-0478), or what the servers we know take.
    package func largestStanza() throws -> Int {
        let announced =
            try database.statement("SELECT largest_stanza FROM session WHERE account = ?")
            .first([.integer(account)]) { $0.optionalInteger() } ?? nil
        return announced.map { Int(clamping: $0) } ?? Self.usuallyTaken
    }

    /// - Throws: `StanzaTooLong` for a stanza that the server would end the stream for.
    package func check(_ stanza: [UInt8]) throws {
        guard stanza.count > Self.alwaysTaken else { return }
        let limit = try largestStanza()
        guard stanza.count <= limit else { throw StanzaTooLong(bytes: stanza.count, limit: limit) }
    }

    /// The server has ended the stream, perhaps for one of the entries up to `id`, which have left and are not acknowledged.
    /// - Returns: the entry to blame: it left alone, after an earlier session had ended in the same way.
    package func blame(through id: Int64) throws -> Entry? {
        let first = try entries(after: 0, limit: 2).filter { $0.id <= id }
        if first.count == 1, let only = first.first, only.isBlamed { return only }
        try database.run(
            """
            UPDATE queue SET blamed = blamed + 1 WHERE account = ?1 AND id <= ?2
                AND (message IS NULL OR NOT (SELECT holding FROM session WHERE account = ?1))
            """, [.integer(account), .integer(id)])
        return nil
    }
}

/// A stanza is larger than the server takes.
public struct StanzaTooLong: Error, CustomStringConvertible, Sendable, Equatable {
    /// Bytes of the stanza.
    public let bytes: Int
    /// Bytes that the server takes.
    public let limit: Int

    public var description: String { "the stanza has \(bytes) bytes, the server takes at most \(limit)" }
}
