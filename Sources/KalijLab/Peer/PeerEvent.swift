/// A line of the independent client.
public struct PeerEvent: Codable, Sendable {
    /// `ready`, `sent`, `received`, `stopped`, `receipt`, `marker`, `operation` (sent), `operated` (received), `requested` (a receipt),
    /// `given` (a receipt or marker), `asked`, `answered` or `failed`.
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
    /// `correction`, `retraction`, `reaction`; of `given`: `receipt`, `marker`.
    public let kind: String?
    /// The id of the message that is changed.
    public let target: String?
    /// The id of a received message in the archive.
    public let archived: String?
}

/// A message of an archive, as given by the server to the independent client.
public struct ArchiveEntry: Codable, Sendable, Equatable {
    public let archiveID: String
    public let sender: String?
    public let recipient: String?
    public let id: String?
    public let originID: String?
    public let body: String?
    /// The server's time of archiving (XEP-0082).
    public let stamp: String?
    /// What is encrypted, for devices of 0.3 and of 2 (XEP-0384); empty in a plain message.
    public let encrypted: [Encrypted]
    /// The names of all parts of the message: `{jabber:client}body`.
    public let parts: [String]

    /// The keys of an encrypted part.
    public struct Encrypted: Codable, Sendable, Equatable {
        /// Of OMEMO's version.
        public let namespace: String
        /// The sender's device.
        public let device: Int
        public let keys: [Key]

        public struct Key: Codable, Sendable, Equatable {
            /// The recipient's device.
            public let device: Int
            /// In base64.
            public let key: String
            /// Whether the key is a key exchange.
            public let exchange: Bool
        }
    }

    enum CodingKeys: String, CodingKey {
        case archiveID = "archive_id"
        case sender, recipient, id, body, stamp, encrypted, parts
        case originID = "origin_id"
    }
}
