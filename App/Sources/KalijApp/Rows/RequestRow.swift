import KalijAddress
import KalijClient

/// A request that awaits the user's answer: an invitation to a group, or a contact request.
public struct RequestRow: Sendable, Equatable {
    public enum Kind: Sendable, Equatable { case invitation, contact }

    public let kind: Kind
    /// The account, and the room or the requester.
    public let key: ConversationKey
    /// The name that the group has given itself; nil if it is unknown.
    public var group: String?
    /// The name of the inviter, or of the requester.
    public let name: String
    /// The address of the inviter, or of the requester; nil if it is unknown.
    public let address: String?
    public let picture: String?
    /// The text of the request.
    public let text: String
    /// When the request was sent, in milliseconds since 1970.
    public let at: Int64
    /// Whether to display the account, because there are several.
    public let showsAccount: Bool

    /// What is requested.
    public var question: String {
        switch kind {
        case .invitation: Words.invited(by: address.map { _ in name }, to: group)
        case .contact: Words.contactRequest(name)
        }
    }

    /// The addresses, by which a name that imitates another is recognized.
    public var details: String {
        var parts = [address.flatMap { $0 == name ? nil : $0.shownName }].compactMap { $0 }
        if kind == .invitation { parts.append(key.jid.shownName) }
        if showsAccount { parts.append(Words.account(key.account)) }
        return parts.joined(separator: ", ")
    }

    /// The accessible name.
    public func spoken(_ time: String) -> String {
        [question, details, text, time].filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
