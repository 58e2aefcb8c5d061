import KalijStore
import KalijText

extension EventKey {
    /// The full address of the session, given by the server.
    public static let jid = EventKey("jid", "the full address of the session, given by the server")
    /// Whether the session was resumed (XEP-0198).
    public static let resumed = EventKey("resumed", "whether the session was resumed (XEP-0198)")
    /// True if all stored data of the account were deleted, too.
    public static let removed = EventKey("removed", "true if all stored data of the account are gone, too")
    /// The purpose of the step.
    public static let step = EventKey("step", "the purpose of the step")
    /// The duration.
    public static let milliseconds = EventKey("milliseconds", "the duration")
    /// How many events.
    public static let count = EventKey("count", "how many events")
}

/// The events about sessions and the engine itself.
package enum SessionEvents {
    package static let all: [any EventContent.Type] = [
        Connecting.self, Online.self, Offline.self, Refused.self, LoggedOut.self, WaitingForStorage.self,
        StorageAvailable.self, EventsDropped.self, SlowStep.self,
    ]
}

/// A connection is being made.
public struct Connecting: EventContent {
    public static let name = "connecting"
    public static let meaning = "A connection is being made."
    public var line: PrintedText? { "connecting" }
    public var isDetail: Bool { true }

    package init() {}
}

/// A session has begun or was resumed.
public struct Online: EventContent {
    public static let name = "online"
    public static let meaning = "A session has begun or was resumed."
    public static let keys: [EventKey] = [.jid, .resumed]
    /// The full address of the session, given by the server.
    public let jid: String
    /// Whether the session was resumed.
    public let resumed: Bool
    public var fields: [EventField] { [EventField(.jid, .text(jid)), EventField(.resumed, .flag(resumed))] }
    public var line: PrintedText? { "online as \(jid), \(resumed ? "session resumed" : "new session")" }

    package init(jid: String, resumed: Bool) { (self.jid, self.resumed) = (jid, resumed) }
}

/// The connection was lost, or could not be made.
public struct Offline: EventContent {
    public static let name = "offline"
    public static let meaning = "The connection is gone, or could not be made."
    public static let keys: [EventKey] = [.reason, .reasonCode, .retryIn]
    /// Why.
    public let reason: Reason
    /// Seconds until the next attempt; nil if there is none.
    public let retryIn: Double?
    public var fields: [EventField] {
        .present(
            EventField(.reason, .text(reason.description)), .optional(.reasonCode, reason.name),
            retryIn.map { EventField(.retryIn, .number($0)) })
    }
    public var line: PrintedText? {
        "offline: \(reason.description)"
            + (retryIn.map { "; trying again in \(Int(clamping: Int64($0.rounded(.up)))) s" } ?? "")
    }

    package init(reason: Reason, retryIn: Double?) { (self.reason, self.retryIn) = (reason, retryIn) }
}

/// The server refuses the login for good.
public struct Refused: EventContent {
    public static let name = "refused"
    public static let meaning = "The server refuses the login for good."
    public static let keys: [EventKey] = [.reason, .reasonCode]
    /// Why.
    public let reason: Reason
    public var fields: [EventField] {
        .present(EventField(.reason, .text(reason.description)), .optional(.reasonCode, reason.name))
    }
    public var line: PrintedText? { "login refused: \(reason.description)" }

    package init(reason: Reason) { self.reason = reason }
}

/// The account was logged out.
public struct LoggedOut: EventContent {
    public static let name = "logged_out"
    public static let meaning = "The account was logged out."
    public static let keys: [EventKey] = [.removed]
    /// Whether all stored data of the account were deleted, too.
    public let removed: Bool
    public var fields: [EventField] { removed ? [EventField(.removed, .flag(true))] : [] }
    public var changed: DirectoryChange.Part? { .init(.account) }
    public var line: PrintedText? { removed ? "removed" : "logged out" }

    package init(removed: Bool) { self.removed = removed }
}

/// The database cannot be written; nothing is acknowledged and no stanza is lost meanwhile.
public struct WaitingForStorage: EventContent {
    public static let name = "waiting_for_storage"
    public static let meaning =
        "The database cannot be written. Nothing is acknowledged and no stanza is lost meanwhile."
    public static let keys: [EventKey] = [.reason, .reasonCode, .retryIn]
    /// Why.
    public let reason: Reason
    /// Seconds until the next attempt.
    public let retryIn: Double
    public var fields: [EventField] {
        .present(
            EventField(.reason, .text(reason.description)), .optional(.reasonCode, reason.name),
            EventField(.retryIn, .number(retryIn)))
    }
    public var line: PrintedText? {
        "cannot store: \(reason.description); nothing is acknowledged, trying again in \(Int(clamping: Int64(retryIn.rounded(.up)))) s"
    }

    package init(_ error: StoreError, retryIn: Double) {
        (reason, self.retryIn) = (Reason(error), retryIn)
    }
}

/// The database can be written again.
public struct StorageAvailable: EventContent {
    public static let name = "storage_available"
    public static let meaning = "The database can be written again."
    public var line: PrintedText? { "can store again" }

    package init() {}
}

/// Events were dropped, because the reader was too slow: the database has the facts.
public struct EventsDropped: EventContent {
    public static let name = "missed"
    public static let meaning = "Events were dropped, because the reader was too slow."
    public static let keys: [EventKey] = [.count]
    /// How many events.
    public let count: Int
    public var fields: [EventField] { [EventField(.count, .integer(Int64(count)))] }
    public var line: PrintedText? { "\(count) events were not told" }

    package init(count: Int) { self.count = count }
}

/// A step took over 100 ms.
public struct SlowStep: EventContent {
    public static let name = "slow_step"
    public static let meaning = "A step took over 100 ms."
    public static let keys: [EventKey] = [.step, .milliseconds]
    /// The purpose of the step.
    public let step: String
    /// The duration.
    public let milliseconds: Int64
    public var fields: [EventField] {
        [EventField(.step, .text(step)), EventField(.milliseconds, .integer(milliseconds))]
    }
    public var line: PrintedText? { "slow step: \(step) took \(milliseconds) ms" }

    package init(step: String, milliseconds: Int64) { (self.step, self.milliseconds) = (step, milliseconds) }
}
