import KalijAddress

/// A part of a directory that is shown differently since a commit: a program that shows the part reads it again.
public struct DirectoryChange: Sendable, Hashable, Codable {
    /// The kinds of parts.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// Messages, the draft, the settings or the number of unread messages of a conversation.
        case conversation
        /// A contact, or its presence, picture, keys or block.
        case contact
        /// A room, or its occupants or members.
        case room
        /// A request of a contact or an invitation to a room.
        case request
        /// A file that is sent or received; the value is the number of bytes moved so far.
        case transfer
        /// What the other side of a conversation is doing; the value is a ``ChatState``. Not stored.
        case typing
        /// The connection of the account; the value is an ``AccountState``. Not stored.
        case state
        /// The account itself: a change of its password or its removal has an outcome, or it was logged out.
        case account
    }

    /// The account's bare address.
    public let account: String
    /// What kind of part is different.
    public let kind: Kind
    /// The bare address of the conversation, contact, room or requester; the id of the transfer; empty for the state and the
    /// account, and for what concerns all of the kind.
    public let key: String
    /// What is stored nowhere, by the kind; nil if everything is stored.
    public let value: String?

    package init(_ part: Part, of account: JID) {
        self.account = account.description
        (kind, key, value) = (part.kind, part.key, part.value)
    }

    /// A change without its account.
    public struct Part: Sendable, Hashable {
        /// The kind of the part.
        public let kind: Kind
        /// See ``DirectoryChange/key``.
        public let key: String
        /// See ``DirectoryChange/value``.
        public let value: String?

        /// - Parameters:
        ///   - kind: the kind of the part.
        ///   - key: see ``DirectoryChange/key``.
        ///   - value: see ``DirectoryChange/value``.
        public init(_ kind: Kind, _ key: String = "", value: String? = nil) {
            (self.kind, self.key, self.value) = (kind, key, value)
        }
    }
}
