import KalijCoordination
import KalijCore
import KalijStore
import KalijStream
import KalijXML

/// The consequence of an error for an account.
package enum ErrorDisposition {
    /// The database cannot be written: nothing is read or acknowledged until it can.
    case wait(StoreError)
    /// The error is not attributed to a stanza, and nothing can be stored: the process stops driving, and acknowledges nothing.
    case stop(any Error)
    /// There is no session yet.
    case negotiation(NegotiationError)
    /// The connection ends, after the given bytes were sent to state the reason to the server.
    case disconnect(Reason, telling: [UInt8] = [])
    /// The server has ended the stream, possibly because of a stanza that was sent.
    case blame(StreamError)
    /// The connection ends. The stanza was not acknowledged: the server redelivers it, and each attempt is counted from then on.
    case careful(Reason)

    package init(of error: any Error) {
        switch error {
        case let error as StoreError where error.isMachineError: self = .wait(error)
        case let error as StoreError where [.corrupt, .notOurs, .newerVersion].contains(error.code): self = .stop(error)
        case is FenceError: self = .stop(error)
        case let error as NegotiationError: self = .negotiation(error)
        case let error as XMLError:
            let condition = StreamError.Condition(rawValue: error.condition) ?? .undefinedCondition
            self = .disconnect(
                Reason(other: "the server's XML is not usable: \(error)"),
                telling: StreamError(condition, text: error.text).bytes())
        case let error as StreamManagementError: self = .disconnect(Reason(other: "\(error)"), telling: error.bytes)
        case StreamFailure.stream(let error): self = .blame(error)
        case let error as StreamFailure: self = .disconnect(error.reason)
        default: self = .careful(Reason(other: "\(error)"))
        }
    }
}
