import KalijAddress
import KalijCore
import KalijFeatures
import KalijStore

/// The unread messages of a room that mention the account: by an element (XEP-0372), or by its nickname.
enum UnreadMentions {
    /// The number of messages that are searched, the newest: the list reads them for each arriving message.
    private static let mostSearched = 50

    static func exist(in room: String, of account: Int64, in database: Database) throws -> Bool {
        guard let row = try RoomRows(database: database, account: account).room(.received(room)) else { return false }
        let messages = MessageReader(database: database, account: account)
        return try DisplayedPlaces.unreadRows(in: room, of: account, in: database).suffix(mostSearched)
            .contains { try row.isMentioned(in: $0, messages.message($0)?.body ?? "", database) }
    }
}
