/// A resource that was bound: with stream management it outlives its connection.
final class ServerSession {
    let id: String
    let resource: String
    weak var stream: ServerStream?
    var isManaged = false
    var isAvailable = false
    /// Stanzas of the client's, modulo 2^32.
    var handled: UInt32 = 0
    /// What was sent and not acknowledged, oldest first.
    private(set) var unacknowledged: [Sent] = []
    /// The count of the client's last acknowledgement.
    private(set) var acknowledged: UInt32 = 0
    /// Whether it had more unacknowledged stanzas than the server keeps.
    private(set) var isOverflowing = false
    /// The session as it was when its last connection ended: what another heir gets.
    private var legacy: (handled: UInt32, unacknowledged: [Sent], acknowledged: UInt32)?
    /// When it was last resumed, in microseconds.
    var resumedAt: Int64?

    struct Sent {
        let stanza: String
        /// The archived message that it is, or shows.
        let message: Int?
        /// Whether it shows it in a page.
        let isPage: Bool
        /// Called when the client has acknowledged it.
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
        /// These are new.
        case taken([Sent])
        /// It takes back what was acknowledged before.
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

    /// What nobody has acknowledged leaves the session.
    func takeUnacknowledged() -> [Sent] {
        defer { unacknowledged = [] }
        return unacknowledged
    }

    func bequeath() { legacy = (handled, unacknowledged, acknowledged) }

    /// Becomes what it was when its last connection ended.
    func inherit() {
        guard let legacy else { return }
        (handled, unacknowledged, acknowledged) = legacy
    }
}
