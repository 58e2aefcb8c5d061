/// Why an experiment could not be carried out. It says nothing about whether Kalij works.
public struct LaboratoryError: Error, CustomStringConvertible, Sendable {
    /// What was attempted, what happened, and what can be done about it.
    public let description: String

    /// Makes an error from its explanation.
    public init(_ description: String) {
        self.description = description
    }
}
