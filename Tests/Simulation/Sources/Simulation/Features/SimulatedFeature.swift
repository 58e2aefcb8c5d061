import KalijStore
import KalijXML

/// A feature in the simulator: a module of the server, as in real servers, together with the judgement.
///
/// A feature keeps its own state. All features are listed in ``SimulatedFeatures``; where several could answer, the first to
/// answer is the only one.
protocol SimulatedFeature: AnyObject, SendableMetatype {
    init(_ server: SimulatedServer)

    /// What happens to the feature in the plan of a seed, beside `actions`: by the user, another device, or anybody else. Drawn from a
    /// generator of its own, so that the rest of the plan stays the same.
    static func actions(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action]

    // MARK: The server

    /// The announced features of the server and of the account (XEP-0030): values of `var`.
    var announced: [String] { get }

    /// A request of the client's to its server or to the account.
    /// - Returns: the answer; nil if the request is for another feature.
    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer?

    /// A request of the client's to another address.
    /// - Returns: whether the feature deals with the request.
    func forward(_ request: Element, to recipient: String, of session: ServerSession) -> Bool

    /// The client has sent a message.
    func sent(_ message: Element, by session: ServerSession)

    /// The client has sent a presence without relation to subscriptions.
    func present(_ presence: Element, of session: ServerSession)

    /// A contact is about to send a message.
    /// - Returns: XML that the contact's client puts in besides the text.
    func additions(to body: String, from sender: String) -> String

    /// A contact's message has been filed for the account.
    func filed(_ message: ArchivedMessage)

    /// A session is over; `sent` are the stanzas that the client has not acknowledged.
    func ended(_ session: ServerSession, _ sent: [ServerSession.Sent])

    /// The server starts again.
    func restarted()

    // MARK: The judge

    /// The broken promises, once everything is at rest.
    /// - Parameter database: the client's.
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation]
}

extension SimulatedFeature {
    static func actions(seed: UInt64, beside actions: [Plan.Action], length: Int64) -> [Plan.Action] { [] }
    var announced: [String] { [] }
    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? { nil }
    func forward(_ request: Element, to recipient: String, of session: ServerSession) -> Bool { false }
    func sent(_ message: Element, by session: ServerSession) {}
    func present(_ presence: Element, of session: ServerSession) {}
    func additions(to body: String, from sender: String) -> String { "" }
    func filed(_ message: ArchivedMessage) {}
    func ended(_ session: ServerSession, _ sent: [ServerSession.Sent]) {}
    func restarted() {}
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] { [] }
}

/// An action of a plan that is a feature's own.
protocol SimulatedAction: Sendable {
    func perform(in simulation: Simulation)
}

/// The server's answer to a request.
enum SimulatedAnswer {
    /// With content, as XML.
    case result(String)
    case error(condition: String, type: String)
}
