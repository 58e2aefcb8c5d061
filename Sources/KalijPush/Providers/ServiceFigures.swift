/// The push services of a provider, in numbers.
public struct ServiceFigures: Sendable, Equatable {
    public var known: Int
    /// Out of reach, or without answers.
    public var resting: Int
    /// Services that have requested a pause.
    public var held: Int
}
