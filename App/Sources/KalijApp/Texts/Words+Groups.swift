import KalijClient

/// Texts of groups and requests.
extension Words {
    // New group
    public static var newGroup: String { tr("New group") }
    public static var groupName: String { tr("Group name") }
    public static var addPerson: String { tr("Add a person") }
    public static var addPersonHint: String { tr("Name or address, then Return") }
    public static var create: String { tr("Create") }
    public static var invite: String { tr("Invite") }
    public static func guestAdded(_ name: String) -> String { tr("{name} added", ["name": name]) }
    public static var nobodyFound: String {
        tr("None of your contacts has this name. Enter an address such as juliet@example.org")
    }
    public static func severalFound(_ count: Int) -> String {
        tr("{n} contact has this name: choose one", "{n} contacts have this name: choose one", count)
    }
    public static func tooManyGuests(_ most: Int) -> String {
        tr("At most {n} person at once", "At most {n} people at once", most)
    }
    public static var choosePicture: String { tr("Choose a picture …") }
    public static var removePicture: String { tr("Remove the picture") }
    public static var pictureChosen: String { tr("The picture is chosen") }
    public static var pictureRemoved: String { tr("The picture is removed") }
    public static var noGroupName: String { tr("Give the group a name") }

    // Its stages
    static func creation(_ creation: GroupCreation) -> String {
        switch creation.stage {
        case .finding: tr("The group waits for the server")
        case .entering: tr("The group is being created")
        case .configuring: tr("The group is being set up")
        case .adding:
            tr(
                "People are being added: {done} of {all}",
                ["done": "\(creation.added)", "all": "\(creation.people.count)"])
        case .removing: tr("The group cannot be completed and is being removed")
        case .failed: tr("Not created: {reason}", ["reason": creation.reason.map(why) ?? ""])
        case .done: tr("The group is complete")
        }
    }

    // A group
    public static func details(of name: String, isGroup: Bool) -> String {
        isGroup ? tr("Group: {name}", ["name": name]) : tr("Contact: {name}", ["name": name])
    }
    public static var members: String { tr("Members") }
    public static func memberCount(_ count: Int) -> String { tr("{n} member", "{n} members", count) }
    /// The line below the name of an open group.
    static func head(_ count: Int, isGroup: Bool, topic: String) -> String {
        let people = isGroup ? memberCount(count) : tr("{n} person present", "{n} people present", count)
        return topic.isEmpty ? people : people + ", " + topic
    }
    public static var topic: String { tr("Topic") }
    static func topicIs(_ topic: String) -> String { tr("Topic: {topic}", ["topic": topic]) }
    static var topicRemoved: String { tr("The topic is removed") }
    public static var rename: String { tr("Rename …") }
    public static var changeTopic: String { tr("Change the topic …") }
    public static var changePicture: String { tr("Change the picture …") }
    public static var inviteMore: String { tr("Invite people …") }
    public static var joinAgain: String { tr("Join again") }
    public static var leaveGroup: String { tr("Leave …") }
    public static var destroyGroup: String { tr("Delete for everyone …") }
    public static var save: String { tr("Save") }
    public static var leave: String { tr("Leave") }
    public static var destroy: String { tr("Delete for everyone") }
    public static func leaveQuestion(_ name: String) -> String { tr("Leave {name}?", ["name": name]) }
    public static var leaveHint: String {
        tr("You receive no more messages of the group. Only a member can invite you again.")
    }
    public static func destroyQuestion(_ name: String) -> String {
        tr("Delete {name} for everyone?", ["name": name])
    }
    public static var destroyHint: String { tr("The group ends for all members. This cannot be undone.") }
    public static var waitingForGroup: String { tr("Waiting for the answer of the group …") }
    public static func changed(_ what: String) -> String { tr("{action}: done", ["action": what]) }
    public static func notChanged(_ what: String, _ reason: String) -> String {
        tr("{action}: not possible, {reason}", ["action": what, "reason": reason])
    }
    /// A change of a member, in words.
    public static func on(_ member: String, _ action: String) -> String {
        tr("{action}, {name}", ["action": action, "name": member])
    }
    public static var groupPicture: String { tr("Picture of the group") }
    public static var pictureTooLarge: String { tr("The picture is larger than 256 kB, or cannot be read") }

    static func outside(_ room: Room) -> String {
        switch room.state {
        case "gone": tr("The group was deleted")
        case "absent": tr("The group does not exist")
        case "left": tr("You have left the group")
        case "refused": tr("The group does not admit you: {reason}", ["reason": room.reason.map(why) ?? ""])
        default: tr("You are not in the group yet")
        }
    }

    // Its members
    static func affiliation(_ affiliation: String, role: String) -> String? {
        switch affiliation {
        case "owner": tr("owner")
        case "admin": tr("admin")
        default: role == "moderator" ? tr("moderator") : affiliation == "member" ? tr("member") : nil
        }
    }
    static var present: String { tr("present") }
    static var absent: String { tr("not present") }
    public static var writeMessage: String { tr("Write a message") }
    public static var makeOwner: String { tr("Make an owner …") }
    public static var makeAdmin: String { tr("Make an admin") }
    public static var makeMember: String { tr("Revoke the rights of an admin") }
    public static var removeMember: String { tr("Remove from the group …") }
    public static var banMember: String { tr("Ban …") }
    /// The question before an action on a member, and its button.
    public static func question(_ action: MemberAction, _ name: String) -> (heading: String, button: String) {
        switch action {
        case .ban: (tr("Ban {name}?", ["name": name]), tr("Ban"))
        case .makeOwner: (tr("Make {name} an owner?", ["name": name]), tr("Make an owner"))
        default: (tr("Remove {name} from the group?", ["name": name]), remove)
        }
    }
    public static func hint(_ action: MemberAction) -> String {
        switch action {
        case .ban: tr("Nobody can invite this person again before the ban is lifted.")
        case .makeOwner: tr("An owner can do everything that you can do, and nobody can remove an owner.")
        default: tr("Whoever may invite can invite this person again.")
        }
    }

    public static var mentioned: String { tr("mentions you") }

    // Requests
    public static var requests: String { tr("Requests") }
    public static func requests(_ count: Int) -> String { tr("{n} request", "{n} requests", count) }
    public static var noRequests: String { tr("No requests") }
    /// - Parameters:
    ///   - name: of the inviter; nil if nobody is named.
    ///   - group: the name that the group gives itself; nil if it is unknown.
    static func invited(by name: String?, to group: String?) -> String {
        switch (name, group) {
        case (let name?, let group?):
            tr("{name} invites you to the group “{group}”", ["name": name, "group": group])
        case (let name?, nil): tr("{name} invites you to a group", ["name": name])
        case (nil, let group?): tr("Invitation to the group “{group}”", ["group": group])
        case (nil, nil): tr("Invitation to a group")
        }
    }
    public static func contactRequest(_ name: String) -> String {
        tr("{name} wants to be your contact", ["name": name])
    }
    public static var accept: String { tr("Accept") }
    public static var decline: String { tr("Decline") }
    public static var later: String { tr("Later") }

    /// The keys of groups and requests, for the table of shortcuts.
    static var groupKeys: [(keys: String, what: String)] {
        [
            ("Ctrl+Shift+N", newGroup), ("Ctrl+I", tr("The group or the contact of the open conversation")),
            ("Ctrl+Shift+R", requests), ("Ctrl+Shift+D", ownDevices),
        ]
    }
}

extension String {
    /// The words of a menu's item without the sign that a question follows.
    public var withoutEllipsis: String { hasSuffix(" …") ? String(dropLast(2)) : self }
}
