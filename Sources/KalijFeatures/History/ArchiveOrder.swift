import KalijSteps
import KalijStore

/// Which of two messages is later, also while a reading of the archive gives messages new places: a message that the reading has
/// not shown yet is later than every message that the reading has shown.
struct ArchiveOrder {
    /// Compares messages of a conversation.
    struct Rank: Comparable {
        let isUnshown: Bool
        let position: Int64

        static func < (one: Rank, other: Rank) -> Bool {
            one.isUnshown == other.isUnshown ? one.position < other.position : other.isUnshown
        }
    }

    let database: Database
    let account: Int64

    func rank(of place: StoredMessages.Place) throws -> Rank {
        let reading = try StoredMessages(database: database, account: account).reading(of: place.row)
        guard let reading, let round = try Round.load(Archive(key: reading.archive), of: account, from: database),
            round.phase != .done, let changed = round.changedBehind
        else { return Rank(isUnshown: false, position: place.position) }
        return Rank(isUnshown: place.position > changed && reading.round < round.number, position: place.position)
    }
}
