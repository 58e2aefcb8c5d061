import KalijStore

/// The sizes of stanzas that the server accepts.
extension OutboundQueue {
    /// Bytes that every server accepts (RFC 6120 13.12).
    private static let guaranteedStanzaLimit = 10_000

    /// The most bytes of a stanza if the server has not announced a limit. Servers close the stream over a larger stanza; 64 KiB
    /// is the smallest default limit among common servers.
    package static let defaultStanzaLimit = 60_000

    /// The most bytes of a stanza: the limit that the server announced (XEP-0478), or ``defaultStanzaLimit``.
    package func maxStanzaSize() throws -> Int {
        let announced = try SessionRow.maxStanzaSize(of: account, in: database)
        return announced.map { Int(clamping: $0) } ?? Self.defaultStanzaLimit
    }

    /// - Throws: `StanzaTooLong` for a stanza over the server's limit; the server would end the stream.
    package func check(_ stanza: [UInt8]) throws {
        guard stanza.count > Self.guaranteedStanzaLimit else { return }
        let limit = try maxStanzaSize()
        guard stanza.count <= limit else { throw StanzaTooLong(bytes: stanza.count, limit: limit) }
    }

    /// The server has ended the stream. The cause may be an entry up to `id`: these entries have left and are not
    /// acknowledged.
    /// - Returns: the entry to blame: an entry that left alone, after an earlier session had ended in the same way.
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

/// A stanza is larger than the server's limit.
public struct StanzaTooLong: Error, CustomStringConvertible, Sendable, Equatable {
    /// Bytes of the stanza.
    public let bytes: Int
    /// The server's limit in bytes.
    public let limit: Int

    public var description: String { "the stanza has \(bytes) bytes, the server takes at most \(limit)" }
}
