import KalijCore
import KalijStore
import KalijText

/// The order of two messages, also while a reading of the archive assigns new order numbers: a message that the reading has not
/// returned yet is later than every message that it has returned.
struct ArchiveOrder {
    /// The rank of a message among those of its conversation.
    struct Rank: Comparable {
        let isUnshown: Bool
        let position: Int64

        static func < (one: Rank, other: Rank) -> Bool {
            one.isUnshown == other.isUnshown ? one.position < other.position : other.isUnshown
        }
    }

    private let database: Database
    private let account: Int64
    /// The readings that assign new order numbers, by the archive's key; nil for an archive without such a reading.
    private var moving: [ExactText: (number: Int64, changedBehind: Int64)?] = [:]

    init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    mutating func rank(of place: MessageReader.Place) throws -> Rank {
        Rank(isUnshown: try reading(before: place) != nil, position: place.position)
    }

    /// The number of a reading that assigns new order numbers, has not returned the message at `place` yet, and will return it, if at
    /// all, after all that it has returned; nil if there is none.
    mutating func reading(before place: MessageReader.Place) throws -> Int64? {
        let reading = try MessageReader(database: database, account: account).reading(of: place.row)
        guard let reading, let round = try moving(reading.archive), place.position > round.changedBehind,
            reading.round < round.number
        else { return nil }
        return round.number
    }

    /// The newest shown incoming message in `conversation`.
    mutating func newestIncoming(in conversation: String) throws -> MessageReader.Place? {
        let messages = MessageReader(database: database, account: account)
        guard let last = try messages.newestIncoming(in: conversation) else { return nil }
        guard let reading = try messages.reading(of: last.row), let round = try moving(reading.archive),
            reading.round == round.number
        else { return last }
        return try messages.newestIncoming(in: conversation, after: round.changedBehind, notShownBy: round.number)
            ?? last
    }

    private mutating func moving(_ archive: String) throws -> (number: Int64, changedBehind: Int64)? {
        if let known = moving[archive.exact] { return known }
        let round = try ArchiveSyncState.load(Archive(key: archive), of: account, from: database)
        let found = round.flatMap { round in
            round.phase == .done ? nil : round.changedBehind.map { (number: round.number, changedBehind: $0) }
        }
        moving[archive.exact] = .some(found)
        return found
    }
}
