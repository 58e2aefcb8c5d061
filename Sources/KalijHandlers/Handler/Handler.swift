/// A callback that survives the process: a stable name, and the values bound when it was made.
///
/// The stored properties are the bound values: the initializer binds them, and `Codable` stores them. An optional
/// property may be missing from what was stored, any other may not. What the caller supplies is the ``Input``.
///
/// ```swift
/// struct Greeted: Handler {
///     static let name = "example.greeted"
///     var language: String
///     func call(_ answer: String, in log: Log) { log.lines.append("\(answer) (\(language))") }
/// }
/// ```
///
/// <doc:CallbacksThatSurvive> teaches it.
///
/// A handler is called synchronously, by whichever process has what it waits for. Everything that it changes has to go
/// through the instance that it is given.
public protocol Handler<Context>: Codable, SendableMetatype {
    /// What the caller supplies.
    associatedtype Input
    /// What the handler works on; what `call` takes as its second argument.
    associatedtype Instance
    /// What a call takes place in. The same as ``Instance``, unless ``instance`` says otherwise.
    associatedtype Context = Instance

    /// What the handler is stored as, e.g. `omemo.bundle-fetched`: the feature that owns it, a dot, what happened.
    /// Never changed once it was released.
    static var name: String { get }
    /// The format of the bound values, from 1 on; raised when older stored values no longer decode as they are.
    static var version: Int { get }
    /// The way from the context to the instance that the handler works on. Not asked where both are of one type: that
    /// is the context itself.
    static var instance: KeyPath<Context, Instance> { get }

    /// Does what the handler is for.
    /// - Throws: what makes the whole step void. An answer that is merely unwelcome is no error.
    func call(_ input: Input, in instance: Instance) throws

    /// Makes values that were bound by the format `version` such that this format's decode.
    /// - Throws: if that cannot be done. Formats that were never released need not be known.
    static func migrate(_ values: inout BoundValues, from version: Int) throws
}

extension Handler {
    public static var version: Int { 1 }

    public static func migrate(_ values: inout BoundValues, from version: Int) throws {
        throw HandlerError(.noMigration, name, version: version)
    }

    /// Calls the handler with some of its bound values replaced, by the names of its properties.
    /// - Throws: `HandlerError` if a name is none of its properties or a value does not fit; what `call` throws.
    public func call(_ input: Input, overriding: [String: any Encodable], in instance: Instance) throws {
        let stored = try StoredHandler(self)
        try stored.decode(Self.self, overriding: overriding).call(input, in: instance)
    }
}

extension Handler where Instance == Context {
    /// The context itself.
    public static var instance: KeyPath<Context, Instance> { \.self }
}

/// A handler that wants to know that it will never be called.
public protocol InvalidatableHandler<Context>: Handler {
    /// Called instead of ``Handler/call(_:in:)``, once.
    ///
    /// Who invalidates may supply values too, as those of optional properties.
    func invalidate(_ reason: Invalidation, in instance: Instance) throws
}

/// Why a handler will never be called. Extensible: switch over it with a default.
public struct Invalidation: Hashable, Codable, Sendable, CustomStringConvertible {
    /// E.g. `logged out`. It is stored: never changed once it was released.
    public let name: String

    /// A reason of that name.
    public init(_ name: String) { self.name = name }

    public init(from decoder: any Decoder) throws { name = try decoder.singleValueContainer().decode(String.self) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }

    public var description: String { name }
}
