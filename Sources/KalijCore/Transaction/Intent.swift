/// A change that the user requests, as a value. Any process commits an intent to the disk; the driving process performs the
/// intent in a step, exactly once.
///
/// The names of the encoded keys are the keys of the command in `kalij run --json`, and are never changed after a release.
public protocol Intent: Codable, Sendable {
    /// The command of `kalij run --json`, and the name of the stored intent. Never changed after a release.
    static var name: String { get }

    /// Whether it does no harm to perform the intent twice, or not at all: it is performed as often as it is accepted, whatever
    /// its id, its outcome is reported and not stored, and a failure of the machine may lose it. False by default.
    static var isIdempotent: Bool { get }

    /// Checks whatever can be checked without the account.
    /// - Throws: an error whose description is for people; then the intent is not accepted.
    func check() throws

    /// Performs the intent in a step of the driving process.
    /// - Parameters:
    ///   - id: the id of the intent, unique. A stanza sent for the intent has this id.
    ///   - step: the step.
    /// - Returns: ``IntentOutcome/pending`` if the outcome is determined later, by `Intents.end(_:_:)`, or as the state of the
    ///   message with this id.
    /// - Throws: `StoreError`: the intent is performed again. Any other error: the changes are undone, and the intent has
    ///   failed, with the error's description as reason.
    func perform(_ id: String, in step: Step) throws -> IntentOutcome
}

extension Intent {
    public static var isIdempotent: Bool { false }
    public func check() throws {}
}

/// The outcome of an intent.
public enum IntentOutcome: Sendable, Equatable {
    /// The outcome has not been determined yet.
    case pending
    /// The intent is done; the server has confirmed the change, if the server has a part in the change.
    case done
    /// The intent has failed, for this reason in words.
    case failed(String)
}

/// Why an intent has failed.
public struct IntentFailure: Error, CustomStringConvertible, Sendable, Equatable {
    /// The reason; its code is ``Reason/Code/other`` if there are only words.
    public let reason: Reason
    /// The reason, in words.
    public var description: String { reason.description }

    /// - Parameter reason: the reason, in words.
    public init(_ reason: String) { self.reason = Reason(other: reason) }
    /// - Parameter reason: a reason with a code.
    package init(_ reason: Reason) { self.reason = reason }
}
