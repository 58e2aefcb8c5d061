import KalijHandlers

extension Step {
    /// Makes a promise.
    /// - Parameters:
    ///   - duration: a promise not settled within this time is rejected with ``Rejection/timeout``.
    ///   - type: the type of the value.
    public func promise<Value: Codable>(
        of type: Value.Type = Value.self, within duration: Duration = .seconds(24 * 3600)
    ) throws -> Promise<Value> {
        Promise(id: try Promises(step: self).make(within: duration.milliseconds))
    }

    /// Resolves a promise; waiting handlers are called at the end of this step.
    /// - Returns: false if the promise is settled already, or forgotten: then nothing changes.
    /// - Throws: `StoreError`, or what encoding `value` throws.
    @discardableResult
    public func resolve<Value>(_ promise: Promise<Value>, with value: Value) throws -> Bool {
        try Promises(step: self).settle(promise.id, .resolved(StoredValue(encoding: value)))
    }

    /// Rejects a promise; waiting handlers are called at the end of this step.
    /// - Returns: false if the promise is settled already, or forgotten: then nothing changes.
    @discardableResult
    public func reject<Value>(_ promise: Promise<Value>, with rejection: Rejection) throws -> Bool {
        try Promises(step: self).settle(promise.id, .rejected(rejection))
    }

    /// Settles `promise` with the outcome of `other`.
    public func settle<Value>(_ promise: Promise<Value>, following other: Promise<Value>) throws {
        try Promises(step: self).wait(for: other.id, StoredHandler(ForwardPromise(follower: promise.id)))
    }

    /// Registers `handler` to wait for a promise. Several handlers may wait for a promise; each is called once, in the order of
    /// the calls of this function.
    /// - Throws: `HandlerError` if the handler cannot be stored; `StoreError`.
    public func then<Value, H: Handler>(
        _ promise: Promise<Value>, _ handler: H
    ) throws where H.Context == Step, H.Input == PromiseOutcome<Value> {
        try Promises(step: self).wait(for: promise.id, StoredHandler(handler))
    }

    /// Registers `handler` to wait for a promise and to settle a new promise with its result.
    /// - Parameters:
    ///   - duration: the new promise is rejected if the handler has not settled it within this time.
    ///   - handler: the handler to call, with its bound values.
    ///   - promise: the awaited promise.
    /// - Returns: the promise that the handler gets as ``PromiseLink/next``. If the handler cannot be called, this
    ///   promise is rejected with ``Rejection/deadLetter``.
    public func chain<Value, Next, H: Handler>(
        _ promise: Promise<Value>, _ handler: H, within duration: Duration = .seconds(24 * 3600)
    ) throws -> Promise<Next> where H.Context == Step, H.Input == PromiseLink<Value, Next> {
        let next = try self.promise(of: Next.self, within: duration)
        try Promises(step: self).wait(for: promise.id, StoredHandler(handler), next: next.id)
        return next
    }
}
