import KalijHandlers

/// A future value, perhaps from another process: a number that can be stored and bound by handlers.
///
/// A promise is resolved or rejected once. The future, a promise's reading side, is a stored handler
/// (``Step/then(_:_:)``), or, in a living process, a task (``PromiseAwaiter``). A promise not settled by its deadline is
/// rejected. A settled promise is kept for a day, for late readers.
public struct Promise<Value: Codable>: Codable, Hashable, Sendable {
    package let id: Int64

    package init(id: Int64) { self.id = id }

    public init(from decoder: any Decoder) throws { id = try decoder.singleValueContainer().decode(Int64.self) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(id)
    }
}

/// The outcome of a promise: the input of a waiting handler.
public enum PromiseOutcome<Value: Codable>: StoredInput {
    /// The promise has a value.
    case resolved(Value)
    /// The promise will never have a value.
    case rejected(Rejection)

    public init(stored: StoredValue) throws {
        let outcome = try StoredOutcome(stored: stored)
        switch outcome {
        case .resolved(let value): self = .resolved(try value.decoded(as: Value.self))
        case .rejected(let rejection): self = .rejected(rejection)
        }
    }

    /// The value.
    /// - Throws: the `Rejection`
    public func get() throws -> Value {
        switch self {
        case .resolved(let value): return value
        case .rejected(let rejection): throw rejection
        }
    }
}

/// A link of a chain: the outcome of a promise, and the next promise. The handler settles the next promise with a
/// result of its own, at once or through another handler later.
public struct PromiseLink<Value: Codable, Next: Codable>: StoredInput {
    /// The outcome of the awaited promise.
    public let outcome: PromiseOutcome<Value>
    /// The promise for the handler to settle.
    public let next: Promise<Next>

    public init(stored: StoredValue) throws {
        guard case .list(let parts) = stored, parts.count == 2 else {
            throw Rejection("damaged", "no link of a chain")
        }
        outcome = try PromiseOutcome(stored: parts[0])
        next = try parts[1].decoded()
    }
}

/// Why a promise was rejected. Extensible: compare with the constants.
public struct Rejection: Error, Hashable, Codable, Sendable, CustomStringConvertible {
    /// E.g. `timeout`.
    public let reason: String
    /// For people.
    public let text: String?

    /// A reason of the application's own.
    public init(_ reason: String, _ text: String? = nil) {
        self.reason = reason
        self.text = text
    }

    /// Nobody settled the promise before its deadline.
    public static let timeout = Rejection("timeout")
    /// The promise was settled too long ago, or never made in this database.
    public static let forgotten = Rejection("forgotten")
    /// The handler that should settle the promise cannot be called.
    public static let deadLetter = Rejection("dead letter")
    /// The waiting process ends; the promise stays.
    public static let stopped = Rejection("stopped")

    public var description: String { text.map { "\(reason): \($0)" } ?? reason }
}

/// The outcome of a promise of unknown type.
package enum StoredOutcome: StoredInput {
    case resolved(StoredValue)
    case rejected(Rejection)

    package init(stored: StoredValue) throws {
        guard case .list(let parts) = stored, parts.count == 2, case .bool(let isResolved) = parts[0] else {
            throw Rejection("damaged", "no outcome of a promise")
        }
        self = isResolved ? .resolved(parts[1]) : .rejected(try parts[1].decoded())
    }

    package var stored: StoredValue {
        get throws {
            switch self {
            case .resolved(let value): .list([.bool(true), value])
            case .rejected(let rejection): .list([.bool(false), try StoredValue(encoding: rejection)])
            }
        }
    }
}
