import KalijClient

/// What precedes the oldest stored message of a conversation, as a row above it.
public enum Beginning: Sendable, Equatable {
    /// The server may have older messages.
    case available
    case reading
    case failed
    /// The conversation begins here.
    case complete

    public var words: String {
        switch self {
        case .available: Words.older
        case .reading: Words.loadingOlder
        case .failed: Words.olderFailed
        case .complete: Words.conversationBegins
        }
    }

    /// The label of the row's button; nil without one.
    public var action: String? {
        switch self {
        case .available: Words.load
        case .failed: Words.retry
        case .reading, .complete: nil
        }
    }

    init(_ state: OlderHistory.State) {
        self =
            switch state {
            case .available: .available
            case .reading: .reading
            case .failed: .failed
            case .complete: .complete
            }
    }
}

extension Page {
    /// Above the oldest message no other gap is shown: what precedes it is the conversation's alone.
    mutating func show(_ state: OlderHistory.State?) {
        guard let state else { return }
        beginning = Beginning(state)
        gaps[0]?.removeAll { $0.kind == .missing }
    }
}
