import KalijAddress
import KalijHandlers
import KalijXML

import FoundationEssentials

extension Step {
    /// Enqueues a request and registers `handler` for the outcome, in this or in any later process.
    ///
    /// Exactly one outcome reaches the handler, once: the responder's result or error; a timeout; or an invalidation, if the
    /// session of the request is lost or the account is logged out. The deadline also passes while no process runs, but a
    /// response that is in transit at the start of a process takes precedence.
    ///
    /// - Parameters:
    ///   - request: an `<iq/>` of type get or set. Without `to` it is addressed to the account itself, that is, to the server on
    ///     its behalf (RFC 6120 10.3.3). The request gets an id that nobody can guess.
    ///   - duration: the longest time for the answer.
    ///   - handler: the handler to call, with its bound values.
    /// - Returns: the id of the request.
    /// - Throws: `RequestError` if the stanza is not a request; `HandlerError` if the handler cannot be stored;
    ///   `StoreError`.
    @discardableResult
    public func send<H: Handler>(
        _ request: Element, then handler: H, within duration: Duration = .seconds(60)
    ) throws -> String where H.Context == Step, H.Input == IQReply {
        guard request.isNamed("iq", "jabber:client"), ["get", "set"].contains(request["type"]) else {
            throw RequestError.notARequest
        }
        guard request.children.count == 1 else { throw RequestError.payload(request.children.count) }
        let responder = try request["to"].map { try JID($0) }
        let id = UUID().uuidString.lowercased()
        let iq = request.copy()
        iq["id"] = id
        let wait = try (handler as? any PacedHandler).map {
            try Pacing(step: self).acquire(H.name, $0.paceKey, type(of: $0).pace)
        }
        try Requests(step: self).register(
            id, responder: responder, StoredHandler(handler),
            within: SteadyTime.sum(duration.milliseconds, wait ?? 0))
        if let wait, wait > 0 {
            try schedule(
                RequestDue(id: id, stanza: iq.bytes(in: "jabber:client")), after: .milliseconds(wait))
        } else {
            try send(iq, request: id)
        }
        return id
    }

    /// Calls `handler` at `time`, or as soon afterwards as a process drives the account. The wait is the time from now
    /// to `time` by the present clock, however the clock is set meanwhile.
    /// - Parameters:
    ///   - time: milliseconds since 1970.
    ///   - handler: the handler to call, with its bound values.
    /// - Throws: `HandlerError` if the handler cannot be stored; `StoreError`.
    @discardableResult
    public func schedule<H: Handler>(
        _ handler: H, at time: Int64
    ) throws -> ScheduledTimer where H.Context == Step, H.Input == Void {
        let (wait, overflow) = time.subtractingReportingOverflow(now)
        return try Timers(step: self).schedule(
            StoredHandler(handler), after: overflow ? (time < now ? .min : .max) : wait)
    }

    /// Calls `handler` after `duration`, or as soon afterwards as a process drives the account.
    /// - Throws: `HandlerError` if the handler cannot be stored; `StoreError`.
    @discardableResult
    public func schedule<H: Handler>(
        _ handler: H, after duration: Duration
    ) throws -> ScheduledTimer where H.Context == Step, H.Input == Void {
        try Timers(step: self).schedule(StoredHandler(handler), after: duration.milliseconds)
    }

    /// Cancels a timer; its handler is invalidated.
    /// - Returns: whether the timer was still waiting.
    @discardableResult
    public func cancel(_ timer: ScheduledTimer, telling reason: Invalidation = .withdrawn) throws -> Bool {
        try Timers(step: self).cancel(timer, telling: reason)
    }

    /// Calls a handler bound by another handler.
    /// - Throws: `HandlerError`, or what the handler throws.
    public func call<Input>(
        _ callback: Callback<Step, Input>, _ input: Input, overriding: [String: any Encodable] = [:]
    ) throws {
        try handlers.call(callback, input, overriding: overriding, in: self)
    }

    /// Notifies a handler bound by another handler that it will not be called.
    /// - Throws: `HandlerError`, or what the handler throws.
    public func invalidate<Input>(
        _ callback: Callback<Step, Input>, _ reason: Invalidation, overriding: [String: any Encodable] = [:]
    ) throws {
        try handlers.invalidate(callback, reason, overriding: overriding, in: self)
    }
}

extension Element {
    /// An `<iq/>` with a request.
    /// - Parameters:
    ///   - type: `get` or `set`.
    ///   - recipient: the addressee; nil is the account itself.
    public static func request(_ type: RequestType, _ payload: Element, to recipient: JID? = nil) -> Element {
        var attributes = ["type": type.rawValue]
        attributes["to"] = recipient?.description
        return Element("iq", xmlns: "jabber:client", attributes: attributes, children: [payload])
    }
}

/// Whether a request reads or changes data (RFC 6120 8.2.3).
public enum RequestType: String, Sendable {
    /// The request reads data.
    case get
    /// The request changes data.
    case set
}

/// Why a stanza cannot be sent as a request.
public enum RequestError: Error, CustomStringConvertible, Sendable, Equatable {
    /// The stanza is not an `<iq/>` of type get or set.
    case notARequest
    /// The stanza has this many children; a request has one (RFC 6120 8.2.3).
    case payload(Int)
    /// The stanza would have this many bytes.
    case tooLong(Int)

    public var description: String {
        switch self {
        case .notARequest: "a request is an <iq/> of type get or set, in the namespace jabber:client"
        case .payload(let count): "a request has one child, this one has \(count)"
        case .tooLong(let bytes):
            "the request takes \(bytes) bytes, at most \(OutboundQueue.defaultStanzaLimit) can be sent"
        }
    }
}

extension Duration {
    /// Whole milliseconds, limited to the representable range.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow, abs(whole) < Int64.max / 4 else { return seconds < 0 ? 0 : Int64.max / 4 }
        return whole + attoseconds / 1_000_000_000_000_000
    }
}
