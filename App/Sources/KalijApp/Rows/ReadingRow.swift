import KalijAddress
import KalijClient

/// Who has read a message in a group, by the names that rows display.
public struct ReadingRow: Sendable, Equatable {
    public let readers: [String]
    public let others: [String]

    /// Nil if nobody has read the message.
    var words: String? {
        if readers.isEmpty { return nil }
        return others.isEmpty ? Words.readByAll : Words.readBy(readers.count, of: readers.count + others.count)
    }

    /// The names, for a dialog: those who have read the message, then the others.
    public var details: String {
        [
            readers.isEmpty ? "" : Words.haveRead(readers.joined(separator: ", ")),
            others.isEmpty ? "" : Words.haveNotRead(others.joined(separator: ", ")),
        ].filter { !$0.isEmpty }.joined(separator: "\n\n")
    }
}

extension ReadingRow {
    init(_ reading: GroupReading, _ people: People) {
        let name = { (member: JID) in people.author(member.local ?? member.description, member.description) }
        (readers, others) = (reading.readers.map(name), reading.others.map(name))
    }
}
