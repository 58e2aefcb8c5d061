/// Why there is no step.
public enum StepError: Error, CustomStringConvertible, Sendable {
    /// The engine or the directory was to accept a message, or to run a step, from within a step: the call would wait for the
    /// step's own transaction. `Step.accept` accepts a message in the step itself.
    case withinStep

    public var description: String {
        "the engine accepts nothing within a step (a handler, the body of `perform`): the step itself does"
    }
}
