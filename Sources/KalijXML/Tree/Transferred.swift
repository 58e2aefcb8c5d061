/// A value that is not Sendable on its way from one owner to another, such as a stanza from the task that reads it to
/// an actor.
///
/// The compiler checks what goes in: nothing else may refer to the value any more (`sending`). Whoever takes it out is
/// its only owner. A stanza comes out of ``StreamParser`` through this box already, so that it can be sent on at once;
/// for one that was kept meanwhile, ``Element/copy()`` makes a tree that nobody else refers to.
///
/// ```swift
/// actor Inbox {
///     private var last: Element?
///     func receive(_ stanza: consuming Transferred<Element>) { last = stanza.take() }
/// }
/// await Inbox().receive(Transferred(Element("presence", xmlns: "jabber:client")))
/// ```
// Sendable, because it has one owner at a time (~Copyable), and the value inside none but the box: the public
// initializer lets the compiler see to that, each use of `init(audited:)` says why.
public struct Transferred<Value>: ~Copyable, @unchecked Sendable {
    private let value: Value

    /// Takes a value over that nobody else refers to.
    public init(_ value: sending Value) { self.value = value }

    /// Takes a value over that the compiler cannot see to be free: the caller says why it is.
    init(audited value: Value) { self.value = value }

    /// Hands the value over to its next owner.
    public consuming func take() -> sending Value {
        // The box ends here, and with it the only other reference.
        nonisolated(unsafe) let value = self.value
        return value
    }
}
