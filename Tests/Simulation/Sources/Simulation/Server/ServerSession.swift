/// A bound resource: with stream management the session outlives its connection.
final class ServerSession {
    let id: String
    let resource: String
    weak var stream: ServerStream?
    var isManaged = false
    var isAvailable = false
    /// Stanzas of the client's, modulo 2^32.
    var handled: UInt32 = 0
    /// Stanzas sent and not acknowledged, oldest first.
    private(set) var unacknowledged: [Sent] = []
    /// The count of the client's last acknowledgement.
    private(set) var acknowledged: UInt32 = 0
    /// Whether the session had more unacknowledged stanzas than the server keeps.
    private(set) var isOverflowing = false
    /// The state of the session at the end of its last connection, for another heir.
    private var legacy: (handled: UInt32, unacknowledged: [Sent], acknowledged: UInt32)?
    /// When the session was last resumed, in microseconds.
    var resumedAt: Int64?
    /// The mechanism of the token that was asked for together with the binding.
    var wantedToken: String?
    /// The power failures before the client went on in the session: since then the client knows the session.
    var knownAfter: Int?
    /// Whether an attempt to resume was answered with the end of the connection, or refused.
    var isRefused = false

    struct Sent {
        let stanza: String
        /// The number of the archived message that the stanza is, or shows.
        let message: Int?
        /// Whether the stanza shows a message in a page.
        let isPage: Bool
        /// Called when the client has acknowledged the stanza.
        let acknowledged: (() -> Void)?
    }

    init(id: String, resource: String) {
        self.id = id
        self.resource = resource
    }

    func sent(_ stanza: Sent, limit: Int?) {
        unacknowledged.append(stanza)
        if let limit, unacknowledged.count > limit { isOverflowing = true }
    }

    enum Acknowledgement {
        /// The newly acknowledged stanzas.
        case taken([Sent])
        /// The count takes back an earlier acknowledgement.
        case stale
        /// More than was sent.
        case impossible
    }

    func acknowledge(_ count: UInt32) -> Acknowledgement {
        let newly = count &- acknowledged
        if newly > UInt32.max / 2 { return .stale }
        guard newly <= unacknowledged.count else { return .impossible }
        let taken = Array(unacknowledged.prefix(Int(newly)))
        unacknowledged.removeFirst(Int(newly))
        acknowledged = count
        return .taken(taken)
    }

    /// Takes the stanzas that nobody has acknowledged out of the session.
    func takeUnacknowledged() -> [Sent] {
        defer { unacknowledged = [] }
        return unacknowledged
    }

    func bequeath() { legacy = (handled, unacknowledged, acknowledged) }

    /// Goes back to the state at the end of the last connection.
    func inherit() {
        guard let legacy else { return }
        (handled, unacknowledged, acknowledged) = legacy
    }
}
