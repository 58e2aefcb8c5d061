import KalijAddress
import KalijClient
import KalijStream
import KalijTransport

/// The user's input at the first start.
public struct LoginForm: Sendable, Equatable {
    public var address = ""
    public var password = ""
    /// `host:port`; empty for none.
    public var server = ""

    public init(address: String = "", password: String = "", server: String = "") {
        (self.address, self.password, self.server) = (address, password, server)
    }

    /// A login whose input is valid.
    public struct Checked: Sendable {
        public let jid: JID
        public let password: String
        public let server: ServerSettings
    }

    /// A problem with the input, described for the user.
    public struct Problem: Error, Equatable {
        public let words: String
    }

    /// - Throws: `Problem`
    public func checked() throws(Problem) -> Checked {
        let word = address.filter { !$0.isWhitespace }
        guard let jid = try? JID(word), jid.local != nil else { throw Problem(words: Words.badAddress) }
        guard !password.isEmpty else { throw Problem(words: Words.noPassword) }
        let place = server.filter { !$0.isWhitespace }
        guard !place.isEmpty else { return Checked(jid: jid, password: password, server: ServerSettings()) }
        let named = HostAndPort(place) ?? (place.contains(":") ? nil : HostAndPort("\(place):5222"))
        guard let named else { throw Problem(words: Words.badServer) }
        return Checked(jid: jid, password: password, server: ServerSettings(override: named))
    }
}

/// The state of the first start.
public enum FirstStart: Sendable, Equatable {
    case entering(problem: String?)
    case loggingIn
}

extension Words {
    /// Why a login has failed, and what to do about it.
    /// - Parameter server: the server that the user specified; nil for none.
    public static func problem(_ error: any Error, of domain: String, at server: String? = nil) -> String {
        switch error {
        case LoginError.refused(let error): refusal(error, domain, server)
        case LoginError.unreachable(let failure): reach(failure, domain, server)
        case LoginError.failed(let reason): loginFailed(reason.shownLine)
        case LoginError.noStream: noService(domain, server)
        case let error as StoreError: storageFailed(why(error))
        case let error as DirectoryError: storageFailed("\(error)".shownLine)
        default: loginFailed("\(error)".shownLine)
        }
    }

    private static func refusal(_ error: NegotiationError, _ domain: String, _ server: String?) -> String {
        if error.isRefusal { return wrongPassword }
        return switch error {
        case .tlsNotOffered, .tlsRefused: noTLS(domain)
        case .sasl: tryLater
        case .stream: noService(domain, server)
        default: loginFailed("\(error)".shownLine)
        }
    }

    private static func reach(_ failure: ConnectFailure, _ domain: String, _ server: String?) -> String {
        switch failure.kind {
        case .certificate, .untrusted:
            ([certificate(domain, failure.attempts.first { $0.kind == failure.kind }?.reason.shownLine ?? "")]
                + [failure.certificateFingerprint.map(fingerprint)].compactMap { $0 }).joined(separator: "\n")
        case .tls: noTLS(domain)
        case .unreachable: unreachable(server ?? domain)
        case .noAnswer: noNetwork
        case .noSuchName: server.map(unknownName) ?? unknownServer(domain)
        case .noService: noService(domain, server)
        case .configuration: loginFailed(failure.description.shownLine)
        }
    }
}
