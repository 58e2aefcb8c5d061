import KalijCore
import KalijHandlers

/// Copies of messages that other clients of the account send and receive (XEP-0280).
enum CarbonsFeature: Feature, SessionObserver {
    package static let name = "carbons"

    package static var handlers: [any Handler<Step>.Type] { [CarbonsEnableResponse.self] }

    package static func didLoseSession(in step: Step) throws { try step.carbons.sessionLost() }

    static func didDiscover(_ answer: ServerAnswer, of entity: ServerEntity, in step: Step) throws {
        guard entity == .server, case .known(let info) = answer, info.supports(CarbonCopy.namespace) else { return }
        // Bind 2 may have enabled carbons inline.
        guard try !SessionRow.hasCarbons(step.account.id, in: step.database) else { return }
        try step.carbons.enable(attempt: 1)
    }
}
