import KalijCore
import KalijStream
import KalijTransport

extension Reason {
    /// The reason for a connection that could not be established.
    package init(_ failure: ConnectFailure) {
        let code: Code =
            switch failure.kind {
            case .certificate: .certificate
            case .untrusted: .untrusted
            case .tls: .tls
            case .unreachable: .unreachable
            case .noAnswer: .noAnswer
            case .noSuchName: .unknownServer
            case .noService: .noService
            case .configuration: .setting
            }
        self.init(code, failure.description)
    }

    /// The reason for a session that could not be established.
    package init(_ error: NegotiationError) {
        switch error {
        case .closed, .silent: self.init(.connectionLost, error.description)
        case .stream(let reason): self.init(.streamError, reason.condition.rawValue, error.description)
        case .tlsNotOffered, .tlsRefused: self.init(.tls, error.description)
        case _ where error.isRefusal: self.init(.loginRefused, error.description)
        default: self.init(other: error.description)
        }
    }
}
