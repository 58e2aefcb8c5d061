import KalijCore

/// Determines what follows from a choice in a bookmark, compared with the choice as last read and with the one made here.
///
/// The order in which the server receives the choices decides: an own choice is written over whatever the bookmark has, once; after
/// the server has acknowledged it, a different choice in the bookmark is a later one, of another device.
struct ChoiceMerge: Equatable {
    enum State: String {
        /// Neither the bookmark nor this device has changed since the bookmark was read.
        case settled
        /// Chosen here, and to be written.
        case changed
        /// Being written, or the response was lost.
        case sent
        /// The server has the choice; the bookmark was not read since.
        case acknowledged
    }

    enum Action: Equatable { case none, adopt, write }

    var state = State.settled
    /// The choice in the bookmark as last read; nil if there was none.
    var listed: NotifyChoice?

    /// The bookmark was read.
    /// - Parameters:
    ///   - now: the choice in the bookmark; nil if there is none.
    ///   - own: the choice here; nil if there is none.
    mutating func read(_ now: NotifyChoice?, own: NotifyChoice?) -> Action {
        let before = listed
        listed = now
        guard now != own else {
            state = .settled
            return .none
        }
        if own != nil {
            switch state {
            case .changed, .sent: return .write
            // The server, or a client that does not preserve extensions, has dropped the choice; nobody has made another one.
            case .acknowledged where now == nil: return .write
            // A choice from before the room had a bookmark.
            case .settled where now == before: return .write
            case .acknowledged, .settled: break
            }
        }
        state = .settled
        return .adopt
    }

    /// The list does not contain the room.
    mutating func readNothing() {
        listed = nil
        if state == .acknowledged { state = .settled }
    }
}
