import KalijSteps
import KalijAddress
import KalijHandlers
import KalijStore
import KalijStream
import KalijXML

extension Step {
    var carbons: Carbons { Carbons(step: self) }
}

/// Has the server copy what other clients of the account send and get (XEP-0280), in each new session.
///
/// What happens before the server does so is found in the archive, which is read again behind it.
struct Carbons {
    package let step: Step
    private static let patience = Duration.seconds(30)
    /// How often an answer is waited for.
    private static let attempts = 3

    /// The session of before is lost: what was asked in it is asked anew.
    package func sessionLost() throws {
        try Requests(step: step).forget(CarbonsEnabled.name, unqueueing: true)
        try note(enabled: false)
    }

    func enable(attempt: Int) throws {
        guard attempt <= Self.attempts else { return }
        try step.send(
            .request(.set, Element("enable", xmlns: CarbonCopy.namespace)), then: CarbonsEnabled(attempt: attempt),
            within: Self.patience)
    }

    /// The server copies from now on. What it did not copy before is in the archive.
    package func enabled() throws {
        try note(enabled: true)
        step.tryArchiveAgain()
    }

    private func note(enabled: Bool) throws {
        try step.database.run(
            "UPDATE session SET carbons = ? WHERE account = ?",
            [.integer(enabled ? 1 : 0), .integer(step.account.id)])
    }
}

/// The server copies, or it does not.
struct CarbonsEnabled: Handler {
    package static let name = "carbons.enabled"
    package let attempt: Int

    func call(_ reply: IQReply, in step: Step) throws {
        switch reply {
        case .result: try step.carbons.enabled()
        case .error: break  // its policy (section 4); the archive has the messages still
        case .timeout: try step.carbons.enable(attempt: attempt + 1)
        }
    }
}
