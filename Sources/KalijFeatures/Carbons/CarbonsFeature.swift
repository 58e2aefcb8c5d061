import KalijCore
import KalijHandlers
import KalijXML

/// Copies of messages that other clients of the account send and receive (XEP-0280).
enum CarbonsFeature: Feature, SessionObserver, StanzaInterceptor {
    package static let name = "carbons"

    package static var handlers: [any Handler<Step>.Type] { [CarbonsEnableResponse.self] }

    package static func didLoseSession(in step: Step) throws { try step.carbons.sessionLost() }

    /// Unwraps a copy. A message with a result of an archive is none.
    static func intercept(_ stanzas: [Element], from origin: StanzaOrigin, in step: Step) throws -> Bool {
        guard let stanza = stanzas.first, stanza.name == "message",
            let copy = CarbonCopy(stanza, account: step.account.jid), ArchiveResult.element(in: stanza) == nil
        else { return false }
        try IncomingPipeline(step: step).deliver(copy.message, .carbon, at: origin.position)
        return true
    }

    static func didDiscover(_ answer: ServerAnswer, of entity: ServerEntity, in step: Step) throws {
        guard entity == .server, case .known(let info) = answer, info.supports(CarbonCopy.namespace) else { return }
        // Bind 2 may have enabled carbons inline.
        guard try !SessionRow.hasCarbons(step.account.id, in: step.database) else { return }
        try step.carbons.enable(attempt: 1)
    }
}
