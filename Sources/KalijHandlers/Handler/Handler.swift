/// A callback that survives the process: a stable name, and the bound values.
///
/// The stored properties are the bound values: the initializer binds the values, and `Codable` stores them. A missing
/// optional property is nil; any other property must be stored. The caller's part is the ``Input``.
///
/// ```swift
/// struct Greeted: Handler {
///     static let name = "example.greeted"
///     var language: String
///     func call(_ answer: String, in log: Log) { log.lines.append("\(answer) (\(language))") }
/// }
/// ```
///
/// <doc:CallbacksThatSurvive> is an introduction.
///
/// A handler is called synchronously, by the process in which the awaited event occurs. All changes have to be made through the
/// given instance.
public protocol Handler<Context>: Codable, SendableMetatype {
    /// The caller's part.
    associatedtype Input
    /// The second argument of `call`: the handler's access to everything else.
    associatedtype Instance
    /// The context of a call. The same as ``Instance``, unless ``instance`` is given.
    associatedtype Context = Instance

    /// The handler's stored name, e.g. `omemo.bundle-fetched`: the owning feature, a dot, the event. Never changed
    /// after a release.
    static var name: String { get }
    /// The format of the bound values, from 1 on; raised when values of the older format no longer decode.
    static var version: Int { get }
    /// The key path from the context to the handler's instance. Not used if both have the same type: the instance is the context then.
    static var instance: KeyPath<Context, Instance> { get }

    /// Does the handler's work.
    /// - Throws: an error, to undo the whole step. An unwelcome answer is no error.
    func call(_ input: Input, in instance: Instance) throws

    /// Changes values bound in the format `version` into the present format.
    /// - Throws: if the change is impossible. Formats that were never released need no migration.
    static func migrate(_ values: inout BoundValues, from version: Int) throws
}

extension Handler {
    public static var version: Int { 1 }

    public static func migrate(_ values: inout BoundValues, from version: Int) throws {
        throw HandlerError(.noMigration, name, version: version)
    }

    /// Calls the handler with some bound values replaced, by the names of the properties.
    /// - Throws: `HandlerError` if a name is no property or a value does not fit; the errors of `call`.
    public func call(_ input: Input, overriding: [String: any Encodable], in instance: Instance) throws {
        let stored = try StoredHandler(self)
        try stored.decode(Self.self, overriding: overriding).call(input, in: instance)
    }
}

extension Handler where Instance == Context {
    /// The context itself.
    public static var instance: KeyPath<Context, Instance> { \.self }
}

/// A handler that is notified when it will never be called.
public protocol InvalidatableHandler<Context>: Handler {
    /// Called instead of ``Handler/call(_:in:)``, once.
    ///
    /// Values may be supplied here, too, for example for optional properties.
    func invalidate(_ reason: Invalidation, in instance: Instance) throws
}

/// Why a handler will never be called. Extensible: switch with a default.
public struct Invalidation: Hashable, Codable, Sendable, CustomStringConvertible {
    /// E.g. `logged out`. The name is stored: never changed after a release.
    public let name: String

    /// Makes a reason of this name.
    public init(_ name: String) { self.name = name }

    public init(from decoder: any Decoder) throws { name = try decoder.singleValueContainer().decode(String.self) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }

    public var description: String { name }
}
