import KalijCore
import KalijHandlers
import KalijStream
import KalijXML

extension Step {
    /// The reading of the account's own archive.
    package var catchUp: ArchiveSync { ArchiveSync(step: self) }
}

/// The response to a catch-up query: the end of a page.
struct ArchivePageResponse: Handler {
    package static let name = "catch-up.page"
    let query: String
    /// The room with the archive; nil for the account's own.
    package let room: String?

    func call(_ reply: IQReply, in step: Step) throws {
        let catchUp = ArchiveSync(step: step, archive: room.map(Archive.init(key:)) ?? .own)
        if let iq = reply.iq { try catchUp.page(iq, of: query) } else { try catchUp.unanswered() }
    }
}

/// The response to a backfill query: the end of a page.
struct BackfillPageResponse: Handler {
    package static let name = "catch-up.filled"
    let query: String
    /// The room with the archive; nil for the account's own.
    package let room: String?

    func call(_ reply: IQReply, in step: Step) throws {
        let filling = Backfill(step: step, archive: room.map(Archive.init(key:)) ?? .own)
        if let iq = reply.iq { try filling.page(iq, of: query) } else { try filling.unanswered() }
    }
}

/// The response to a query for older history of a conversation: the end of a page.
struct ConversationPageResponse: Handler {
    static let name = "catch-up.conversation"
    let conversation: String
    let query: String

    func call(_ reply: IQReply, in step: Step) throws {
        let history = ConversationHistory(step: step, conversation: conversation)
        if let iq = reply.iq { try history.page(iq, of: query) } else { try history.unanswered() }
    }
}

/// The response to the query for messages from before the first reading.
struct ArchiveStartResponse: Handler {
    package static let name = "catch-up.begin"
    /// The room with the archive; nil for the account's own.
    package let room: String?

    func call(_ reply: IQReply, in step: Step) throws {
        guard case .result(let iq) = reply else { return }
        try ArchiveStart(step: step, archive: room.map(Archive.init(key:)) ?? .own).answered(iq)
    }
}

/// The response to the query for a room's features.
struct RoomArchiveInfoResponse: Handler {
    package static let name = "catch-up.room"
    package let room: String

    func call(_ reply: IQReply, in step: Step) throws {
        try RoomArchive(step: step, room: Archive(key: room)).answered(reply)
    }
}
