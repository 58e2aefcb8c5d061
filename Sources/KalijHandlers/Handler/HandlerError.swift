/// Why a handler cannot be stored, read or called. Holds names only, no bound value.
public struct HandlerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a failure. Extensible: switch with a default.
    public struct Code: Hashable, Sendable {
        let text: String
        /// No handler type of this name is registered.
        public static let unknownName = Code(text: "no such handler is known")
        /// A value that is not optional was neither bound nor supplied.
        public static let missingArgument = Code(text: "is missing")
        /// The property cannot hold the value.
        public static let wrongType = Code(text: "does not fit")
        /// A value was supplied for an unknown property.
        public static let unknownArgument = Code(text: "is no property of the handler")
        /// No version has written such bytes.
        public static let malformed = Code(text: "the stored form is damaged")
        /// A newer version of the handler was stored.
        public static let newerVersion = Code(text: "was stored by a newer version")
        /// The handler cannot read values bound by this older version.
        public static let noMigration = Code(text: "no migration from that version")
        /// A value cannot be stored.
        public static let notStorable = Code(text: "cannot be stored")
        /// The caller's input has the wrong type.
        public static let wrongInput = Code(text: "takes something else")
        /// The handler was invalidated before.
        public static let invalidated = Code(text: "was invalidated")
        /// Two handler types have the same name.
        public static let duplicateName = Code(text: "two handlers have this name")
    }

    /// The kind of the failure.
    public let code: Code
    /// The handler's name; empty if unreadable in the stored bytes.
    public let handler: String
    /// The stored version, where relevant.
    public let version: Int?
    /// The faulty bound value, as a path of property names.
    public let argument: String?
    /// The expected type or value, where helpful.
    public let detail: String?

    /// An error for a handler's own use, e.g. in ``Handler/migrate(_:from:)``.
    public init(
        _ code: Code, _ handler: String, version: Int? = nil, argument: String? = nil, detail: String? = nil
    ) {
        self.code = code
        self.handler = handler
        self.version = version
        self.argument = argument
        self.detail = detail
    }

    public var description: String {
        var text = handler.isEmpty ? "handler" : "handler \(handler)"
        if let version { text += " (version \(version))" }
        text += ": "
        if let argument { text += "\(argument) " }
        text += code.text
        if let detail { text += ", \(detail)" }
        return text
    }
}
