/// A stored handler with a static input type. Handlers bind callbacks to call other handlers later.
///
/// Stored like the handler inside; the compiler checks the input.
public struct Callback<Context, Input>: Codable, Sendable, Hashable {
    /// The handler.
    public let stored: StoredHandler

    /// Binds `handler`.
    /// - Throws: `HandlerError` `.notStorable`
    public init<H: Handler>(_ handler: H) throws(HandlerError) where H.Context == Context, H.Input == Input {
        stored = try StoredHandler(handler)
    }

    public init(from decoder: any Decoder) throws { stored = try StoredHandler(from: decoder) }
    public func encode(to encoder: any Encoder) throws { try stored.encode(to: encoder) }
}

extension HandlerRegistry {
    /// Calls the handler in `callback`.
    /// - Throws: `HandlerError`, or the handler's error.
    public func call<Input>(
        _ callback: Callback<Context, Input>, _ input: Input, overriding: [String: any Encodable] = [:],
        in context: Context
    ) throws {
        try call(callback.stored, input, overriding: overriding, in: context)
    }

    /// Notifies the handler in `callback` that it will never be called.
    /// - Throws: `HandlerError`, or the handler's error.
    public func invalidate<Input>(
        _ callback: Callback<Context, Input>, _ reason: Invalidation, overriding: [String: any Encodable] = [:],
        in context: Context
    ) throws {
        try invalidate(callback.stored, reason, overriding: overriding, in: context)
    }
}
