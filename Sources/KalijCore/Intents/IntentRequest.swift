import KalijHandlers
import KalijStream
import KalijXML

/// A request that makes the change of an intent: the response determines the outcome of the intent. The request has to be idempotent,
/// because it is repeated if its session is lost.
package protocol IntentRequest: InvalidatableHandler where Context == Step, Input == IQReply, Instance == Step {
    /// The id of the intent.
    var intent: String { get }
    /// The number of the attempt.
    var attempt: Int { get set }

    /// The request.
    func request(in step: Step) throws -> Element

    /// The server has performed the request.
    /// - Parameter result: the response; nil if an earlier attempt has removed the item of the request.
    /// - Returns: the outcome of the intent; pending if a further request was sent.
    func done(_ result: Element?, in step: Step) throws -> IntentOutcome

    /// The server has rejected the change.
    func refused(in step: Step) throws

    /// The server has responded with an error.
    /// - Returns: the outcome of the intent; by default failed.
    func outcome(of error: StanzaError, in step: Step) throws -> IntentOutcome
}

extension IntentRequest {
    package func refused(in step: Step) throws {}
    package func outcome(of error: StanzaError, in step: Step) throws -> IntentOutcome { .failed(Reason(error)) }

    package func send(in step: Step) throws {
        try step.send(request(in: step), then: self, within: EngineLimits.archiveTimeout)
    }

    package func call(_ reply: IQReply, in step: Step) throws {
        switch reply {
        case .result(let result): try Intents(step: step).end(intent, done(result, in: step))
        case .error(let error, _) where error.condition == .itemNotFound && attempt > 1:
            try Intents(step: step).end(intent, done(nil, in: step))
        case .error(let error, _):
            let outcome = try outcome(of: error, in: step)
            if case .failed = outcome { try refused(in: step) }
            try Intents(step: step).end(intent, outcome)
        case .timeout where step.isForUnsent: try send(in: step)
        case .timeout where attempt < EngineLimits.serverAttempts: try retry(in: step)
        case .timeout: try fail(Reason(.noReply), in: step)
        }
    }

    package func invalidate(_ reason: Invalidation, in step: Step) throws {
        if reason == .sessionLost { try retry(in: step) } else { try fail(Reason(other: reason.name), in: step) }
    }

    private func retry(in step: Step) throws {
        var next = self
        next.attempt += 1
        try next.send(in: step)
    }

    private func fail(_ reason: Reason, in step: Step) throws {
        try refused(in: step)
        try Intents(step: step).end(intent, .failed(reason))
    }
}
