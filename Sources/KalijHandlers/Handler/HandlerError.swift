/// Why a handler cannot be stored, read or called. Holds names only, no bound value.
public struct HandlerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of failure it is. Extensible: switch over it with a default.
    public struct Code: Hashable, Sendable {
        let text: String
        /// No handler type of that name is registered.
        public static let unknownName = Code(text: "no such handler is known")
        /// A value that is not optional was neither bound nor supplied.
        public static let missingArgument = Code(text: "is missing")
        /// A value is there that the property cannot hold.
        public static let wrongType = Code(text: "does not fit")
        /// A value was supplied for something that is no property.
        public static let unknownArgument = Code(text: "is no property of the handler")
        /// The stored bytes are none that any version has written.
        public static let malformed = Code(text: "the stored form is damaged")
        /// It was stored by a newer version of the handler.
        public static let newerVersion = Code(text: "was stored by a newer version")
        /// The handler does not know how to read values bound by that older version.
        public static let noMigration = Code(text: "no migration from that version")
        /// A value cannot be stored.
        public static let notStorable = Code(text: "cannot be stored")
        /// What the caller supplies is not what the handler takes.
        public static let wrongInput = Code(text: "takes something else")
        /// The handler was invalidated before.
        public static let invalidated = Code(text: "was invalidated")
        /// Two handler types have the same name.
        public static let duplicateName = Code(text: "two handlers have this name")
    }

    /// What kind of failure it is.
    public let code: Code
    /// The handler's name; empty if the stored bytes do not even give that.
    public let handler: String
    /// The version that it was stored by, where it matters.
    public let version: Int?
    /// The bound value that is to blame, as a path of property names.
    public let argument: String?
    /// What was expected, where it helps.
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
