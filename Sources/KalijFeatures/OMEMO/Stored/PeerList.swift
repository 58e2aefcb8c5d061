import KalijAddress

/// The stored list of an address's devices.
struct PeerList {
    let id: Int64
    let jid: JID
    /// The number of the session in which the list was received.
    let session: Int64
    let receivedAt: Int64
    /// The number of the last session with notifications of changes.
    let watched: Int64
    let isRequested: Bool
    /// The reason why the list is unavailable; nil if it is available.
    let problem: String?
    let isStranger: Bool
}
