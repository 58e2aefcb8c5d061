import KalijCore
import KalijAddress
import KalijHandlers
import KalijStore
import KalijStream
import KalijXML

extension Step {
    var carbons: Carbons { Carbons(step: self) }
}

/// Requests in each new session that the server copies the messages of the account's other clients (XEP-0280).
///
/// Messages from before the server's response are in the archive, so the archive is read again after the response.
struct Carbons {
    package let step: Step

    /// The previous session is lost: its request is void.
    package func sessionLost() throws {
        try Requests(step: step).forget(CarbonsEnableResponse.name, unqueueing: true)
        try record(enabled: false)
    }

    func enable(attempt: Int) throws {
        guard attempt <= EngineLimits.serverAttempts else { return }
        try step.send(
            .request(.set, Element("enable", xmlns: CarbonCopy.namespace)),
            then: CarbonsEnableResponse(attempt: attempt),
            within: EngineLimits.serverTimeout)
    }

    /// The server sends copies from now on. Earlier messages are in the archive.
    package func enabled() throws {
        try record(enabled: true)
        step.retryArchive()
    }

    private func record(enabled: Bool) throws {
        try SessionRow.set(carbons: enabled, of: step.account.id, in: step.database)
    }
}

/// The response to the request to enable carbons.
struct CarbonsEnableResponse: Handler {
    package static let name = "carbons.enabled"
    package let attempt: Int

    func call(_ reply: IQReply, in step: Step) throws {
        switch reply {
        case .result: try step.carbons.enabled()
        case .error: break  // the server's policy (section 4); the archive still has the messages
        case .timeout: try step.carbons.enable(attempt: attempt + 1)
        }
    }
}
