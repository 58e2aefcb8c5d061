/// Why an experiment could not be carried out. Such an error is no result about Kalij.
public struct LaboratoryError: Error, CustomStringConvertible, Sendable {
    /// The attempt, the event, and a possible remedy.
    public let description: String

    /// Makes an error from its explanation.
    public init(_ description: String) {
        self.description = description
    }
}
