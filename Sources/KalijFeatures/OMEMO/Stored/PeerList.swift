import KalijAddress

/// The list of an address's devices, as it is known here.
struct PeerList {
    let id: Int64
    let jid: JID
    /// The number of the session in which the list was told.
    let session: Int64
    let toldAt: Int64
    /// The number of the last session in which changes are told.
    let watched: Int64
    let isAsked: Bool
    /// Why the list cannot be had; nil if it can.
    let problem: String?
    let isStranger: Bool
}
