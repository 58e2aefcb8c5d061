/// Why there is no step.
public enum StepError: Error, CustomStringConvertible, Sendable {
    /// A message was to be accepted, or a step to be run, from within a step: the call would wait for the step's own
    /// transaction. Call after the step, as from the event of the step.
    case withinStep

    public var description: String {
        "nothing can be accepted within a step (a handler, the body of `perform`), only once the step is over"
    }
}
