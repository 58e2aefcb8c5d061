import KalijCore
import KalijStream

/// The end of a connection that the negotiation did not cause.
package enum StreamFailure: Error, CustomStringConvertible {
    case beforeSession(String)
    /// A captive portal most likely responds in place of the server.
    case http
    case closed
    case stream(StreamError)

    package var reason: Reason {
        switch self {
        case .beforeSession(let what): Reason(other: "the server sent \(what) before there was a session")
        case .http: Reason(.signInPage)
        case .closed: Reason(.connectionLost, "the server closed the stream")
        case .stream(let error): Reason(.streamError, error.condition.rawValue, "\(error)")
        }
    }

    package var description: String { reason.description }
}
