/// A value that is not Sendable on its way from owner to owner, such as a stanza from the reading task to an actor.
///
/// The compiler checks the way in: nothing else may refer to the value any more (`sending`). The taker is the only
/// owner. A stanza comes out of ``StreamParser`` through this box already and can be sent on at once; for a stanza kept
/// meanwhile, ``Element/copy()`` makes a tree without other references.
///
/// ```swift
/// actor Inbox {
///     private var last: Element?
///     func receive(_ stanza: consuming Transferred<Element>) { last = stanza.take() }
/// }
/// await Inbox().receive(Transferred(Element("presence", xmlns: "jabber:client")))
/// ```
// Sendable, because the box has one owner at a time (~Copyable), and only the box owns the value: the compiler
// guarantees this for the public initializer, each use of `init(audited:)` says why.
public struct UncheckedSending<Value>: ~Copyable, @unchecked Sendable {
    private let value: Value

    /// Takes over a value without other references.
    public init(_ value: sending Value) { self.value = value }

    /// Takes over a value when the compiler cannot see that there are no other references: the caller says why.
    init(audited value: Value) { self.value = value }

    /// Hands the value over to the next owner.
    public consuming func take() -> sending Value {
        // The box ends here, and with the box the only other reference.
        nonisolated(unsafe) let value = self.value
        return value
    }
}
