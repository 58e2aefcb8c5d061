import KalijHandlers
import KalijCoordination
import KalijStore

/// Calls stored handlers within a step. An unreadable handler becomes a dead letter, and the step continues.
package struct HandlerInvoker {
    package let step: Step

    /// Calls a handler. A thrown error makes the step void, so that the call is repeated with its stanza.
    package func call(_ handler: ClaimedHandler, _ input: Any) throws {
        guard let ready = try ready(handler, { try $0.ready($1, input) }) else { return }
        mark(handler)
        try ready(step)
    }

    /// Calls a handler whose call is never repeated. If the handler throws, only its effects are undone, and the handler becomes
    /// a dead letter.
    package func callAlone(_ handler: ClaimedHandler, _ input: Any) throws {
        guard let ready = try ready(handler, { try $0.ready($1, input) }) else { return }
        try alone(handler, ready)
    }

    /// Notifies a handler that it will not be called. If the handler throws, only its effects are undone: a failing handler must
    /// not stop the account.
    package func invalidate(_ handler: ClaimedHandler, _ reason: Invalidation) throws {
        guard let ready = try ready(handler, { try $0.readyToInvalidate($1, reason) }) else { return }
        try alone(handler, ready)
    }

    private func ready(
        _ handler: ClaimedHandler,
        _ body: (HandlerRegistry<Step>, StoredHandler) throws -> HandlerRegistry<Step>.Ready
    ) throws -> HandlerRegistry<Step>.Ready? {
        step.handlerCalled()
        do {
            guard handler.crashes < ClaimedHandler.maxCrashes else {
                try bury(handler, "\(handler.crashes) processes ended while they called it")
                return nil
            }
            return try body(step.handlers, try StoredHandler(bytes: handler.bytes))
        } catch let error as HandlerError {
            try bury(handler, "\(error)")
            return nil
        }
    }

    /// Gives a handler up.
    package func bury(_ handler: ClaimedHandler, _ reason: String) throws {
        try DeadLetters(step: step).bury(handler.bytes, because: reason, from: handler.origin)
    }

    private func mark(_ handler: ClaimedHandler) {
        guard let origin = CrashMarker.Origin(handler.origin) else { return }
        step.mark?.set(CrashMarker.Row(account: step.account.id, origin: origin, id: handler.id))
    }

    private func alone(_ handler: ClaimedHandler, _ ready: HandlerRegistry<Step>.Ready) throws {
        mark(handler)
        do {
            try step.undoable { try ready(step) }
        } catch let error as StoreError where error.isMachineError {
            throw error
        } catch let error as FenceError {
            throw error
        } catch {
            try bury(handler, "it failed: \(error)")
        }
    }
}
