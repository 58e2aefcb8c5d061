/// An app's handler types, collected once.
public struct HandlerRegistry<Context>: Sendable {
    /// A handler read without errors; only the call is left.
    public typealias Ready = (Context) throws -> Void

    private struct Entry: Sendable {
        let call: @Sendable (StoredHandler, Any, [String: any Encodable]) throws(HandlerError) -> Ready
        let invalidate: @Sendable (StoredHandler, Invalidation, [String: any Encodable]) throws(HandlerError) -> Ready
    }

    private var entries: [String: Entry] = [:]

    /// An empty registry.
    public init() {}

    /// A registry of `types`.
    /// - Throws: `HandlerError` `.duplicateName`
    public init(_ types: [any Handler<Context>.Type]) throws(HandlerError) {
        for type in types { try add(type) }
    }

    /// The names of all handlers in the registry, sorted.
    public var names: [String] { entries.keys.sorted() }

    private mutating func add<H: Handler<Context>>(_ type: H.Type) throws(HandlerError) {
        let entry = Entry(
            call: { stored, input, overriding throws(HandlerError) in
                try Self.call(type, stored, input, overriding)
            },
            invalidate: { stored, reason, overriding throws(HandlerError) in
                try Self.invalidate(type, stored, reason, overriding)
            })
        guard entries.updateValue(entry, forKey: H.name) == nil else { throw HandlerError(.duplicateName, H.name) }
    }

    // MARK: Calling

    /// Calls `stored` with `input`; values in `overriding` replace bound values of the same name.
    /// - Throws: `HandlerError` if `stored` cannot be read or takes another input, or the handler's error.
    public func call(
        _ stored: StoredHandler, _ input: Any, overriding: [String: any Encodable] = [:], in context: Context
    ) throws {
        try ready(stored, input, overriding: overriding)(context)
    }

    /// Notifies `stored` that it will never be called, if the type is an ``InvalidatableHandler``. Afterwards `stored` can
    /// neither be called nor invalidated again, in this process or, after storing, in any other.
    /// - Throws: `HandlerError` if `stored` cannot be read, or the handler's error; then `stored` is not invalidated.
    public func invalidate(
        _ stored: StoredHandler, _ reason: Invalidation, overriding: [String: any Encodable] = [:],
        in context: Context
    ) throws {
        try readyToInvalidate(stored, reason, overriding: overriding)(context)
    }

    /// Reads `stored`, so that errors are detected before anything is called.
    /// - Throws: `HandlerError`
    public func ready(
        _ stored: StoredHandler, _ input: Any, overriding: [String: any Encodable] = [:]
    ) throws(HandlerError) -> Ready {
        try entry(stored).call(stored, input, overriding)
    }

    /// Reads `stored` to be invalidated.
    /// - Throws: `HandlerError`
    public func readyToInvalidate(
        _ stored: StoredHandler, _ reason: Invalidation, overriding: [String: any Encodable] = [:]
    ) throws(HandlerError) -> Ready {
        try entry(stored).invalidate(stored, reason, overriding)
    }

    private func entry(_ stored: StoredHandler) throws(HandlerError) -> Entry {
        guard let entry = entries[stored.name] else {
            throw HandlerError(.unknownName, stored.name, version: stored.version)
        }
        try Self.check(stored)
        return entry
    }

    private static func check(_ stored: StoredHandler) throws(HandlerError) {
        if stored.isInvalidated { throw HandlerError(.invalidated, stored.name, version: stored.version) }
    }

    private static func call<H: Handler<Context>>(
        _ type: H.Type, _ stored: StoredHandler, _ input: Any, _ overriding: [String: any Encodable]
    ) throws(HandlerError) -> Ready {
        let input = try Self.input(of: type, input, stored)
        let handler = try stored.decode(type, overriding: overriding)
        return { context in
            try check(stored)
            try handler.call(input, in: Self.instance(of: H.self, context))
        }
    }

    private static func invalidate<H: Handler<Context>>(
        _ type: H.Type, _ stored: StoredHandler, _ reason: Invalidation, _ overriding: [String: any Encodable]
    ) throws(HandlerError) -> Ready {
        let handler = try stored.decode(type, overriding: overriding)
        return { context in
            guard stored.markInvalidated() else {
                throw HandlerError(.invalidated, stored.name, version: stored.version)
            }
            do {
                guard let handler = handler as? any InvalidatableHandler<Context> else { return }
                try notify(handler, reason, context)
            } catch {
                stored.unmark()
                throw error
            }
        }
    }

    private static func notify<H: InvalidatableHandler>(
        _ handler: H, _ reason: Invalidation, _ context: Context
    ) throws where H.Context == Context {
        try handler.invalidate(reason, in: Self.instance(of: H.self, context))
    }

    /// The instance for the handler. The runtime takes a path apart at some cost, and most handlers do not need a path:
    /// they work on the context itself.
    private static func instance<H: Handler<Context>>(of type: H.Type, _ context: Context) -> H.Instance {
        if H.Instance.self == Context.self, let instance = context as? H.Instance { return instance }
        return context[keyPath: H.instance]
    }

    private static func input<H: Handler>(
        of type: H.Type, _ input: Any, _ stored: StoredHandler
    ) throws(HandlerError) -> H.Input {
        if let input = input as? H.Input { return input }
        if let value = input as? StoredValue, let convertible = H.Input.self as? any StoredInput.Type {
            do {
                if let input = try convertible.init(stored: value) as? H.Input { return input }
            } catch {
                throw HandlerError(.wrongInput, H.name, version: stored.version, detail: "\(H.Input.self): \(error)")
            }
        }
        throw HandlerError(
            .wrongInput, H.name, version: stored.version,
            detail: "\(H.Input.self), and was called with \(Swift.type(of: input))")
    }
}

/// An input stored while the handler was not there, such as the result of a promise.
public protocol StoredInput {
    /// Reads the stored form.
    init(stored: StoredValue) throws
}
