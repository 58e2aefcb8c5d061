import KalijHandlers
import KalijRoles
import KalijStore

/// Calls stored handlers within a step. What cannot be read becomes a dead letter, and the step goes on.
struct HandlerCalls {
    let step: Step

    /// Calls a handler; what it throws makes the step void, so that what called it comes again.
    func call(_ bytes: [UInt8], _ input: Any, from origin: DeadLetter.Origin) throws {
        guard let ready = try ready(bytes, origin, { try $0.ready($1, input) }) else { return }
        try ready(step)
    }

    /// Calls a handler that nothing calls again: if it throws, its effects alone are undone, and it is a dead letter.
    func callAlone(_ bytes: [UInt8], _ input: Any, from origin: DeadLetter.Origin) throws {
        guard let ready = try ready(bytes, origin, { try $0.ready($1, input) }) else { return }
        try alone(bytes, origin, ready)
    }

    /// Tells a handler that it will never be called. If it throws, its effects alone are undone: a handler that cannot
    /// give up must not keep the account from going on.
    func invalidate(_ bytes: [UInt8], _ reason: Invalidation, from origin: DeadLetter.Origin) throws {
        guard let ready = try ready(bytes, origin, { try $0.readyToInvalidate($1, reason) }) else { return }
        try alone(bytes, origin, ready)
    }

    private func ready(
        _ bytes: [UInt8], _ origin: DeadLetter.Origin,
        _ body: (HandlerRegistry<Step>, StoredHandler) throws -> HandlerRegistry<Step>.Ready
    ) throws -> HandlerRegistry<Step>.Ready? {
        step.handlerCalled()
        do {
            return try body(step.handlers, try StoredHandler(bytes: bytes))
        } catch {
            try DeadLetters(step: step).bury(bytes, because: "\(error)", from: origin)
            return nil
        }
    }

    private func alone(
        _ bytes: [UInt8], _ origin: DeadLetter.Origin, _ ready: HandlerRegistry<Step>.Ready
    ) throws {
        do {
            try step.undoable { try ready(step) }
        } catch let error as StoreError where error.isMachineError {
            throw error
        } catch let error as FenceError {
            throw error
        } catch {
            try DeadLetters(step: step).bury(bytes, because: "it failed: \(error)", from: origin)
        }
    }
}
