import KalijHandlers
import KalijStream
import KalijXML

extension Step {
    /// The reading of the account's own archive.
    var catchUp: CatchUp { CatchUp(step: self) }
}

/// The server has said what it can do: with an archive or without, the catch-up begins.
struct FeaturesKnown: Handler {
    static let name = "catch-up.features"

    func call(_ reply: IQReply, in step: Step) throws {
        guard let iq = reply.iq else { return try step.catchUp.featuresUnknown() }
        let hasArchive = try ArchiveFeature(step: step).answered(iq)
        // The first reading begins at a time of the server's.
        if hasArchive, try step.catchUp.round() == nil, try ServerTime(step: step).isAwaited { return }
        try step.catchUp.begin(hasArchive: hasArchive)
    }
}

/// A page at an archive's end has come to its end.
struct PageRead: Handler {
    static let name = "catch-up.page"
    let query: String
    /// Whose archive it is; nil for the account's own.
    let room: String?

    func call(_ reply: IQReply, in step: Step) throws {
        let catchUp = CatchUp(step: step, archive: room.map(Archive.init(key:)) ?? .own)
        if let iq = reply.iq { try catchUp.page(iq, of: query) } else { try catchUp.unanswered() }
    }
}

/// A page of older history has come to its end.
struct PageFilled: Handler {
    static let name = "catch-up.filled"
    let query: String
    /// Whose archive it is; nil for the account's own.
    let room: String?

    func call(_ reply: IQReply, in step: Step) throws {
        let filling = Filling(step: step, archive: room.map(Archive.init(key:)) ?? .own)
        if let iq = reply.iq { try filling.page(iq, of: query) } else { try filling.unanswered() }
    }
}

/// An archive has said whether it has something before what was read.
struct BeginKnown: Handler {
    static let name = "catch-up.begin"
    /// Whose archive it is; nil for the account's own.
    let room: String?

    func call(_ reply: IQReply, in step: Step) throws {
        guard case .result(let iq) = reply else { return }
        try ArchiveBegin(step: step, archive: room.map(Archive.init(key:)) ?? .own).answered(iq)
    }
}

/// A room has said what it can do.
struct RoomFeaturesKnown: Handler {
    static let name = "catch-up.room"
    let room: String

    func call(_ reply: IQReply, in step: Step) throws {
        try RoomArchive(step: step, room: Archive(key: room)).answered(reply)
    }
}

extension CatchUp: HandlerOwner {
    static let prefix = "catch-up"

    /// A handler was lost: what waits for it goes on without.
    static func lost(_ letter: DeadLetter, in step: Step) throws {
        let problem = "what should have gone on with it was lost: \(letter.reason)"
        let archive = archive(of: letter)
        switch letter.name {
        case FeaturesKnown.name: try step.catchUp.featuresUnknown(problem)
        case PageRead.name: try CatchUp(step: step, archive: archive).unanswered(problem)
        case PreferencesTold.name: try step.catchUp.preferencesTold()
        case PageFilled.name: try Filling(step: step, archive: archive).unanswered(problem)
        case RoomFeaturesKnown.name: RoomArchive(step: step, room: archive).tell(problem)
        default: break
        }
    }

    /// The archive that a handler was about: each of them binds the room, if it is not the account's own.
    private static func archive(of letter: DeadLetter) -> Archive {
        guard case .text(let room)? = (try? StoredHandler(bytes: letter.handler))?.values["room"] else { return .own }
        return Archive(key: room)
    }
}
