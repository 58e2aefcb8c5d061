/// Transfers a value that is not Sendable from owner to owner, such as a stanza from the reading task to an actor.
///
/// The compiler checks the initializer: nothing else may refer to the value any more (`sending`). The receiver is the only owner.
/// ``StreamParser`` delivers a stanza through this box already, so it can be sent on at once; for a stanza kept meanwhile,
/// ``Element/copy()`` makes a tree without other references.
///
/// ```swift
/// actor Inbox {
///     private var last: Element?
///     func receive(_ stanza: consuming UncheckedSending<Element>) { last = stanza.take() }
/// }
/// await Inbox().receive(UncheckedSending(Element("presence", xmlns: "jabber:client")))
/// ```
// Sendable, because the box has one owner at a time (~Copyable), and only the box owns the value: the compiler guarantees this
// for the public initializer, each use of `init(audited:)` states the reason.
public struct UncheckedSending<Value>: ~Copyable, @unchecked Sendable {
    private let value: Value

    /// Takes over a value without other references.
    public init(_ value: sending Value) { self.value = value }

    /// Takes over a value when the compiler cannot verify that there are no other references: the caller states why there are none.
    init(audited value: Value) { self.value = value }

    /// Hands the value over to the next owner.
    public consuming func take() -> sending Value {
        // The box ends here, and with the box the only other reference.
        nonisolated(unsafe) let value = self.value
        return value
    }
}
