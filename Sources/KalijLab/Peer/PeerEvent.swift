/// One line that the independent client wrote.
public struct PeerEvent: Codable, Sendable {
    /// `ready`, `sent`, `received`, `stopped`, `asked`, `answered` or `failed`.
    public let event: String
    /// Seconds since 1970.
    public let at: Double
    public let number: Int?
    public let sent: Int?
    public let sender: String?
    public let type: String?
    public let id: String?
    public let body: String?
    public let reason: String?
}

/// One message of an archive, as the server gave it to the independent client.
public struct ArchiveEntry: Codable, Sendable, Equatable {
    public let archiveID: String
    public let sender: String?
    public let recipient: String?
    public let id: String?
    public let originID: String?
    public let body: String?
    /// When the server archived it (XEP-0082).
    public let stamp: String?

    enum CodingKeys: String, CodingKey {
        case archiveID = "archive_id"
        case sender, recipient, id, body, stamp
        case originID = "origin_id"
    }
}
