/// A stored handler that is known to take a certain input: what a handler binds to call another one later.
///
/// It is stored like the handler in it; the compiler checks what it is called with.
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
    /// Calls what `callback` holds.
    /// - Throws: `HandlerError`, or what the handler throws.
    public func call<Input>(
        _ callback: Callback<Context, Input>, _ input: Input, overriding: [String: any Encodable] = [:],
        in context: Context
    ) throws {
        try call(callback.stored, input, overriding: overriding, in: context)
    }

    /// Tells what `callback` holds that it will never be called.
    /// - Throws: `HandlerError`, or what the handler throws.
    public func invalidate<Input>(
        _ callback: Callback<Context, Input>, _ reason: Invalidation, overriding: [String: any Encodable] = [:],
        in context: Context
    ) throws {
        try invalidate(callback.stored, reason, overriding: overriding, in: context)
    }
}
