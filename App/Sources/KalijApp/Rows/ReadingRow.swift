import KalijAddress
import KalijClient

/// Who has read a message, by the names that rows display.
public enum ReadingRow: Sendable, Equatable {
    case contact(ContactReading)
    case group(readers: [String], others: [String])

    /// What the row of the message says; nil if its state says it.
    var words: String? {
        guard case .group(let readers, let others) = self else { return nil }
        if readers.isEmpty { return nil }
        return others.isEmpty ? Words.readByAll : Words.readBy(readers.count, of: readers.count + others.count)
    }

    /// The sentences of a dialog. In a group: those who have read the message, then the others.
    public var details: String {
        switch self {
        case .contact(let reading): reading.words
        case .group(let readers, let others):
            [
                readers.isEmpty ? "" : Words.haveRead(readers.joined(separator: ", ")),
                others.isEmpty ? "" : Words.haveNotRead(others.joined(separator: ", ")),
            ].filter { !$0.isEmpty }.joined(separator: "\n\n")
        }
    }
}

/// How far a message has come at the only other person of a conversation.
public struct ContactReading: Sendable, Equatable {
    let name: String
    let state: DeliveryState

    /// Nil as long as the user's server does not have the message.
    init?(_ state: DeliveryState?, by name: String) {
        guard let state, [.sent, .delivered, .read].contains(state) else { return nil }
        (self.name, self.state) = (name, state)
    }

    var words: String {
        switch state {
        case .read: Words.hasRead(name)
        case .delivered: Words.hasArrived(name)
        default: Words.hasNotArrived(name)
        }
    }
}

extension ReadingRow {
    init(_ reading: GroupReading, _ people: People) {
        let name = { (member: JID) in people.author(member.local ?? member.description, member.description) }
        self = .group(readers: reading.readers.map(name), others: reading.others.map(name))
    }
}
