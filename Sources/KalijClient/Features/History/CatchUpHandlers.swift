import KalijHandlers
import KalijXML

extension Step {
    var catchUp: CatchUp { CatchUp(step: self) }
}

/// The server has said what it can do: with an archive or without, the catch-up begins.
struct FeaturesKnown: Handler {
    static let name = "catch-up.features"

    func call(_ reply: IQReply, in step: Step) throws {
        guard let iq = reply.iq else { return try step.catchUp.featuresUnknown() }
        try step.catchUp.begin(hasArchive: try ArchiveFeature(step: step).answered(iq))
    }
}

/// A page of the archive has come to its end.
struct PageRead: Handler {
    static let name = "catch-up.page"
    static var instance: KeyPath<Step, CatchUp> { \.catchUp }
    let query: String

    func call(_ reply: IQReply, in catchUp: CatchUp) throws {
        if let iq = reply.iq { try catchUp.page(iq, of: query) } else { try catchUp.unanswered() }
    }
}

extension CatchUp: HandlerOwner {
    static let prefix = "catch-up"
    static let questions = [FeaturesKnown.name, PageRead.name]

    static func lost(_ letter: DeadLetter, in step: Step) throws {
        let problem = "what should have gone on with it was lost: \(letter.reason)"
        if letter.name == FeaturesKnown.name {
            try step.catchUp.featuresUnknown(problem)
        } else {
            try step.catchUp.unanswered(problem)
        }
    }
}
