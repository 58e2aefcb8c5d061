/// What to do with the session. To be made after the fence was checked and the barrier raised.
public struct SessionPlan: Hashable, Sendable {
    /// A former session to go on with. Every stanza counted in `handled` must be stored in a way that survives a power
    /// failure.
    public struct Resume: Hashable, Sendable {
        /// The session's name at the server.
        public var id: String
        /// How many of the server's stanzas we handled.
        public var handled: HandledCount

        /// Makes a plan to resume.
        public init(id: String, handled: HandledCount) { (self.id, self.handled) = (id, handled) }
    }

    /// A new session.
    public struct Bind: Hashable, Sendable {
        /// The wanted resource, where the binding is a step of its own; nil: the server chooses.
        public var resource: String?
        /// The name of the software, for the resource that the server makes (XEP-0386).
        public var tag: String
        /// Whether carbons are enabled together with the binding, where the server can.
        public var carbons: Bool
        /// Whether the session begins inactive, where the server can be told together with the binding.
        public var isInactive: Bool
        /// The preferred time in seconds for which the server keeps the session of a lost connection.
        public var maximum: Int?

        /// Makes a plan to bind.
        public init(
            resource: String? = nil, tag: String, carbons: Bool = false, isInactive: Bool = false, maximum: Int? = nil
        ) {
            (self.resource, self.tag, self.carbons) = (resource, tag, carbons)
            (self.isInactive, self.maximum) = (isInactive, maximum)
        }
    }

    /// The former session; nil if there is none.
    public var resume: Resume?
    /// The new session; nil: no session is wanted unless the former session is resumed.
    public var bind: Bind?

    /// Makes a plan.
    public init(resume: Resume? = nil, bind: Bind? = nil) { (self.resume, self.bind) = (resume, bind) }
}
