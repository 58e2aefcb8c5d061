import KalijSteps
import KalijHandlers
import KalijStream
import KalijXML

extension Step {
    /// The reading of the account's own archive.
    package var catchUp: CatchUp { CatchUp(step: self) }
}

/// A page at an archive's end has come to its end.
struct PageRead: Handler {
    package static let name = "catch-up.page"
    let query: String
    /// Whose archive it is; nil for the account's own.
    package let room: String?

    func call(_ reply: IQReply, in step: Step) throws {
        let catchUp = CatchUp(step: step, archive: room.map(Archive.init(key:)) ?? .own)
        if let iq = reply.iq { try catchUp.page(iq, of: query) } else { try catchUp.unanswered() }
    }
}

/// A page of older history has come to its end.
struct PageFilled: Handler {
    package static let name = "catch-up.filled"
    let query: String
    /// Whose archive it is; nil for the account's own.
    package let room: String?

    func call(_ reply: IQReply, in step: Step) throws {
        let filling = Filling(step: step, archive: room.map(Archive.init(key:)) ?? .own)
        if let iq = reply.iq { try filling.page(iq, of: query) } else { try filling.unanswered() }
    }
}

/// An archive has said whether it has something before what was read.
struct BeginKnown: Handler {
    package static let name = "catch-up.begin"
    /// Whose archive it is; nil for the account's own.
    package let room: String?

    func call(_ reply: IQReply, in step: Step) throws {
        guard case .result(let iq) = reply else { return }
        try ArchiveBegin(step: step, archive: room.map(Archive.init(key:)) ?? .own).answered(iq)
    }
}

/// A room has said what it can do.
struct RoomFeaturesKnown: Handler {
    package static let name = "catch-up.room"
    package let room: String

    func call(_ reply: IQReply, in step: Step) throws {
        try RoomArchive(step: step, room: Archive(key: room)).answered(reply)
    }
}
