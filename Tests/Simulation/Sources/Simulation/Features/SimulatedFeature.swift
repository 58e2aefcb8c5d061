import KalijStore
import KalijXML

/// A feature in the simulator: the module that the server has for it, as real servers have, and what is judged of it.
///
/// Its state is its own. All features are listed in ``SimulatedFeatures``; where several could do something, the first that does is
/// the only one.
protocol SimulatedFeature: AnyObject, SendableMetatype {
    init(_ server: SimulatedServer)

    // MARK: The server

    /// What the server says of itself and of the account (XEP-0030): values of `var`.
    var announced: [String] { get }

    /// A request of the client's to its server or to the account.
    /// - Returns: the answer; nil if the request is not for this feature.
    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer?

    /// A request of the client's to somebody else.
    /// - Returns: whether this feature deals with it.
    func forward(_ request: Element, to recipient: String, of session: ServerSession) -> Bool

    /// The client has sent a message.
    func sent(_ message: Element, by session: ServerSession)

    /// The client has sent a presence that is none of a subscription.
    func present(_ presence: Element, of session: ServerSession)

    /// A contact is about to send a message: what its client puts in besides the text, as XML.
    func additions(to body: String, from sender: String) -> String

    /// A session is over; `sent` is what its client has not acknowledged.
    func ended(_ session: ServerSession, _ sent: [ServerSession.Sent])

    /// The server starts again.
    func restarted()

    // MARK: The judge

    /// What was promised and does not hold, once everything is at rest.
    /// - Parameter database: the client's.
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation]
}

extension SimulatedFeature {
    var announced: [String] { [] }
    func answer(_ request: Element, of session: ServerSession) -> SimulatedAnswer? { nil }
    func forward(_ request: Element, to recipient: String, of session: ServerSession) -> Bool { false }
    func sent(_ message: Element, by session: ServerSession) {}
    func present(_ presence: Element, of session: ServerSession) {}
    func additions(to body: String, from sender: String) -> String { "" }
    func ended(_ session: ServerSession, _ sent: [ServerSession.Sent]) {}
    func restarted() {}
    func check(_ database: Database, of simulation: Simulation) throws -> [Violation] { [] }
}

/// The server's answer to a request.
enum SimulatedAnswer {
    /// With what is in it, as XML.
    case result(String)
    case error(condition: String, type: String)
}
