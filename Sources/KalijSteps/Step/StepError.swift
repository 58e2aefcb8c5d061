/// Why there is no step.
public enum StepError: Error, CustomStringConvertible, Sendable {
    /// Something was to be accepted, or run as a step, from within a step: it would wait for the step's own transaction. It is to
    /// be done once the step is over, as from the event that tells of it.
    case withinStep

    public var description: String {
        "nothing can be accepted within a step (a handler, the body of `perform`), only once the step is over"
    }
}
