import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijStream
import KalijXML

/// Push of a step: passes events to the state, and performs the actions that it returns.
struct Push {
    let step: Step
    private var account: Value { .integer(step.account.id) }

    static let namespace = "urn:xmpp:push:0"
    private static let options = "http://jabber.org/protocol/pubsub#publish-options"
    private static let day = Duration.seconds(24 * 3600)

    /// - Parameter intent: the id of the intent that ends with the server's response; nil if an earlier intent remains pending.
    func handle(_ event: PushState.Event, for intent: String? = nil) throws {
        guard var row = try PushRow.load(step.account.id, from: step.database) ?? Self.first(event) else { return }
        if let intent {
            if let earlier = row.intent { try Intents(step: step).end(earlier, .failed("asked again")) }
            row.intent = intent
        }
        let before = row.state.stage
        for action in row.state.handle(event) { try perform(action, &row) }
        if [.enabling, .enabled, .off].contains(row.state.stage) { row.problem = nil }
        try row.save(step.account.id, in: step.database)
        if row.state.stage != before { step.emit(PushChanged(PushRegistration(row))) }
    }

    /// A row is created by the first request for push.
    private static func first(_ event: PushState.Event) -> PushRow? {
        if case .requested = event { PushRow() } else { nil }
    }

    private func perform(_ action: PushState.Action, _ row: inout PushRow) throws {
        switch action {
        case .enable(let target): try sendRequest(enabling(target), &row)
        case .disable(let target): try sendRequest(Self.element("disable", target), &row)
        case .confirmed:
            row.confirmedAt = row.state.stage == .enabled ? step.now : nil
            try end(&row, .done)
        case .failed(let reason):
            row.problem = reason
            try end(&row, .failed(reason))
        case .retryLater: try step.schedule(PushRetryTimer(asked: row.requestCount), after: Self.day)
        }
    }

    private func end(_ row: inout PushRow, _ outcome: IntentOutcome) throws {
        guard let intent = row.intent else { return }
        row.intent = nil
        try Intents(step: step).end(intent, outcome)
    }

    private func sendRequest(_ element: Element, _ row: inout PushRow) throws {
        row.requestCount += 1
        try step.send(
            .request(.set, element), then: PushEnableResponse(asked: row.requestCount),
            within: EngineLimits.serverTimeout)
    }

    private static func element(_ name: String, _ target: PushTarget) -> Element {
        Element(name, xmlns: namespace, attributes: ["jid": target.service, "node": target.node])
    }

    /// The server passes the options to the push service with each notification (section 5.1).
    private func enabling(_ target: PushTarget) -> Element {
        let element = Self.element("enable", target)
        let fields = [("pushModule", target.module), ("secret", target.secret)].compactMap { name, value in
            value.map { DataForm.Field(name, values: [$0]) }
        }
        if !fields.isEmpty { element.add(DataForm(.submit, formType: Self.options, fields: fields).element) }
        return element
    }

    // MARK: The session

    func sessionLost() throws {
        try Requests(step: step).forget(PushEnableResponse.name, unqueueing: true)
        try handle(.sessionLost)
    }

    /// Disables push before the account is logged out.
    /// - Returns: the handlers whose responses are pending.
    func leave() throws -> [String] {
        guard let row = try PushRow.load(step.account.id, from: step.database), row.state.known != nil else {
            return []
        }
        try handle(.requested(nil, isOnline: true))
        return [PushEnableResponse.name]
    }

    /// Deletes the registration, which belongs to the login.
    func forget() throws { try step.database.run("DELETE FROM push WHERE account = ?", [account]) }
}

/// Handles the server's response.
struct PushEnableResponse: InvalidatableHandler {
    static let name = "push.answered"
    /// The number of the request.
    let asked: Int64

    func call(_ reply: IQReply, in step: Step) throws {
        guard try PushRow.load(step.account.id, from: step.database)?.requestCount == asked else { return }
        switch reply {
        case .result: try Push(step: step).handle(.answered)
        case .error(let error, _): try Push(step: step).handle(.refused(Self.reason(error)))
        case .timeout: try Push(step: step).handle(.unanswered)
        }
    }

    /// A server without push does not support the request (RFC 6120 section 8.3.3.19).
    private static func reason(_ error: StanzaError) -> String {
        let isUnknown = [.serviceUnavailable, .featureNotImplemented].contains(error.condition)
        return isUnknown ? "the server has no push: \(error)" : "\(error)"
    }

    /// The next session sends the request again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// Repeats the registration, which a server may have deleted meanwhile (measured: after an error of the push service).
struct PushRetryTimer: Handler {
    static let name = "push.due"
    let asked: Int64

    func call(_: Void, in step: Step) throws {
        guard try PushRow.load(step.account.id, from: step.database)?.requestCount == asked else { return }
        try Push(step: step).handle(.due)
        step.flush()
    }
}
