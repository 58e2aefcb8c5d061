/// The plan for the session. To be created after the fence was checked and the barrier was completed.
public struct SessionPlan: Hashable, Sendable {
    /// A former session to resume. Every stanza counted in `handled` must be stored so that it survives a power failure.
    public struct Resume: Hashable, Sendable {
        /// The session's id at the server.
        public var id: String
        /// The number of the server's stanzas that were handled.
        public var handled: HandledCount

        /// Creates a plan to resume.
        public init(id: String, handled: HandledCount) { (self.id, self.handled) = (id, handled) }
    }

    /// A new session.
    public struct Bind: Hashable, Sendable {
        /// The requested resource, if the binding is a separate step; if nil, the server chooses.
        public var resource: String?
        /// The name of the software, for the resource that the server generates (XEP-0386).
        public var tag: String
        /// Whether carbons are enabled together with the binding, if the server supports it.
        public var carbons: Bool
        /// Whether the session begins inactive, if the server supports that together with the binding.
        public var isInactive: Bool
        /// The preferred time in seconds for which the server keeps the session of a lost connection.
        public var maximum: Int?

        /// Creates a plan to bind.
        public init(
            resource: String? = nil, tag: String, carbons: Bool = false, isInactive: Bool = false, maximum: Int? = nil
        ) {
            (self.resource, self.tag, self.carbons) = (resource, tag, carbons)
            (self.isInactive, self.maximum) = (isInactive, maximum)
        }
    }

    /// The former session; nil if there is none.
    public var resume: Resume?
    /// The new session; if nil, there is no session unless the former one is resumed.
    public var bind: Bind?

    /// Creates a plan.
    public init(resume: Resume? = nil, bind: Bind? = nil) { (self.resume, self.bind) = (resume, bind) }
}
