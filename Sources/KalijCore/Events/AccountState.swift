/// The state of an account's connection, as its driver reports it.
public struct AccountState: Sendable, Equatable, Codable {
    /// The stages of a connection.
    public enum Stage: String, Sendable, Codable {
        /// No connection; the next attempt is at ``AccountState/nextAttempt``.
        case offline
        /// A connection is being made.
        case connecting
        /// There is a session.
        case online
        /// The server refuses the login; nothing is tried until the account is changed.
        case refused
    }

    /// How far the connection is.
    public private(set) var stage: Stage
    /// Since when the account is online, or is not, in milliseconds since 1970.
    public private(set) var since: Int64
    /// When the next connection is made, in milliseconds since 1970; nil if none is planned, or one is being made.
    public private(set) var nextAttempt: Int64?
    /// Why the account is not online; nil if it is, or never was in this process.
    public private(set) var reason: Reason?
    /// Why nothing can be stored; nil if all is well.
    public private(set) var storageProblem: Reason?

    package init(at now: Int64) { (stage, since) = (.offline, now) }

    /// Whether the event can affect the state: most events cannot, and casts take longer.
    package static func isAffected(by event: EngineEvent) -> Bool {
        causes.contains(ObjectIdentifier(type(of: event.content)))
    }

    private static let causes = Set(
        ([Connecting.self, Online.self, Offline.self, Refused.self, WaitingForStorage.self, StorageAvailable.self]
            as [any EventContent.Type]).map { ObjectIdentifier($0) })

    /// - Returns: whether the event affects the state.
    package mutating func apply(_ event: EngineEvent) -> Bool {
        switch event.content {
        case is Connecting: (stage, nextAttempt) = (.connecting, nil)
        case is Online:
            if stage != .online { since = event.at }
            (stage, nextAttempt, reason) = (.online, nil, nil)
        case let offline as Offline:
            if stage == .online { since = event.at }
            (stage, reason) = (.offline, offline.reason)
            nextAttempt = offline.retryIn.map { event.at + Int64(min($0, 86_400) * 1000) }  // fits: a day at most
        case let refused as Refused:
            if stage == .online { since = event.at }
            (stage, reason, nextAttempt) = (.refused, refused.reason, nil)
        case let waiting as WaitingForStorage: storageProblem = waiting.reason
        case is StorageAvailable: storageProblem = nil
        default: return false
        }
        return true
    }
}
