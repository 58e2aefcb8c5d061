import KalijClient

/// A group as its screen displays it.
public struct GroupPage: Sendable, Equatable {
    public let key: ConversationKey
    public let name: String
    public let topic: String
    public let picture: String?
    /// Why the account is not in the group, in words; nil if it is.
    public let problem: String?
    /// Whether the user's messages are encrypted, and who cannot read them, in words.
    public let encryption: String
    /// What the account may do.
    public let actions: [GroupAction]
    public let notifications: NotificationChoice
    /// The account itself, then owners, admins and others, each in the order of their names.
    public let members: [MemberRow]

    /// What a screen reader says when the group is opened, before the row with the focus.
    public var spoken: String {
        [name, Words.memberCount(members.count), topic, problem ?? "", encryption].filter { !$0.isEmpty }.joined(
            separator: ", ")
    }
}

/// What an open group needs besides its messages.
public struct GroupHead: Sendable, Equatable {
    /// The line below the name: how many people, and the topic.
    public let line: String
    /// The topic on one line; empty for none.
    public let topic: String
    /// The nicknames of the others, at most 5,000.
    public let nicks: [String]

    /// What is announced in the open group when another head was read before.
    public func change(since former: GroupHead) -> String? {
        if topic == former.topic { return nil }
        return topic.isEmpty ? Words.topicRemoved : Words.topicIs(topic)
    }
}

/// An action on a group.
public enum GroupAction: Sendable, Equatable {
    case invite
    case rename
    case changeTopic
    case changePicture
    /// Encrypts the user's messages, or no longer.
    case encrypt(Bool)
    case join
    case leave
    case destroy

    public var words: String {
        switch self {
        case .invite: Words.inviteMore
        case .rename: Words.rename
        case .changeTopic: Words.changeTopic
        case .changePicture: Words.changePicture
        case .encrypt(let isOn): isOn ? Words.encryptMessages : Words.stopEncrypting
        case .join: Words.joinAgain
        case .leave: Words.leaveGroup
        case .destroy: Words.destroyGroup
        }
    }

    /// The words without the sign of a question that follows.
    public var plain: String { words.withoutEllipsis }

    public var isDestructive: Bool { [.leave, .destroy, .encrypt(false)].contains(self) }

    /// - Parameter rights: nil outside of the room.
    static func all(in room: Room, _ rights: RoomRights?, isEncrypted: Bool) -> [GroupAction] {
        guard let rights else {
            let own: [GroupAction] = room.isWanted ? [.leave] : []
            return ["left", "refused"].contains(room.state) ? [.join] + own : own
        }
        return [
            rights.invites ? .invite : nil, rights.configures ? .rename : nil,
            rights.setsSubject ? .changeTopic : nil, rights.setsPicture ? .changePicture : nil,
            room.isGroup || isEncrypted ? .encrypt(!isEncrypted) : nil, .leave, rights.destroys ? .destroy : nil,
        ].compactMap { $0 }
    }
}
