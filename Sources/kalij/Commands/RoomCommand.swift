import KalijAddress
import KalijClient
import KalijText

enum RoomCommand: Command {
    static let name = "room"
    static let usage =
        """
        [list | create NAME | join ROOM | leave ROOM | members ROOM | invite ROOM JID... | invitations | decline ROOM | \
        describe ROOM | remove ROOM JID | role ROOM WHO ROLE | rename ROOM NAME | subject ROOM TEXT | avatar ROOM FILE | \
        nick ROOM NICK | config ROOM NAME=VALUE... | moderate ROOM ID | destroy ROOM] [--account JID]
        """
    static let summary = "make, enter, change and leave groups and other rooms"
    static let details = """
        The account stays in a room until it leaves, whatever becomes of processes, connections and sessions. What is said there is
        stored as in other conversations: `kalij history ROOM`, `kalij send ROOM TEXT`. A message to a room is sent exactly once: it
        is `delivered` when the room has shown it.

          list                   prints the rooms; exit status 1 if there are none
          create NAME            makes a group at your server: for members only, who see each other's addresses, in no list;
                                 prints its line of `list`, with the address.
                                 --invite JID, also several times, makes members and invites them; --avatar FILE sets the
                                 picture: if the room does not take it, the group is made without, and the command fails
          join ROOM              enters a room, or accepts an invitation; never creates a room. If the room cannot be reached, the
                                 next driving process goes on trying. In an open room where everybody sees your address,
                                 --show-address is needed
          leave ROOM             leaves a room; its messages stay
          members ROOM           prints who belongs to a group, and who is in a room; exit status 1 if you are not there
          invite ROOM JID...     invites people; in a group they become members first
          invitations            prints the invitations that wait for you; exit status 1 if there are none
          decline ROOM           declines an invitation
          describe ROOM          asks the room of an invitation for its name, which `invitations` prints from then on; its server
                                 learns that you are online
          remove ROOM JID        removes somebody from a group; with --ban, for good
          role ROOM WHO ROLE     WHO is an address: owner, admin, member, none, outcast; or a nickname: moderator, participant,
                                 visitor, kick
          rename ROOM NAME       changes the name
          subject ROOM TEXT      says what the room is about; an empty TEXT for nothing
          avatar ROOM FILE       sets the picture: PNG, JPEG, GIF or WebP; `none` removes it
          nick ROOM NICK         changes your nickname
          config ROOM NAME=VALUE
                                 changes settings of the room; a wrong NAME fails, and the error lists the names
          moderate ROOM ID       takes a message back for all; ID as in `kalij help retract`
          destroy ROOM           ends the room for all; --successor ROOM offers another

        What changes a room needs you in the room, and the right to do so; the commands wait for the room's answer, at most 30
        seconds.

        \(IntentRunner.details)

        With --json each line of `list` is an event `room`, with `wanted`, `title`, `subject`, `group` and `archive`; each line of
        `members` an event `member` or `occupant`; each line of `invitations` an event `invitation`.

        examples:
          kalij room create "Balcony scene" --invite romeo@example.net
          kalij room join orchard@conference.example.org --nick Juliet
          kalij room role orchard@conference.example.org nurse@example.org admin
        """
    static let options: [Arguments.Option] =
        [
            .value("--nick", "N", "the nickname in the room; without, the last, or the first part of your address"),
            .value("--password-file", "F", "read the room's password from the file F; - is standard input"),
            .flag("--show-address", "agree that everybody in an open room sees your address"),
            .value("--invite", "JID", "with create: invite JID; also several, separated by commas"),
            .value("--avatar", "FILE", "with create: the picture of the group"),
            .value("--reason", "TEXT", "say why"),
            .flag("--ban", "with remove: for good"),
            .value("--successor", "ROOM", "with destroy: offer another room"),
        ] + IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        let words = arguments.operands
        switch words.first ?? "list" {
        case "list" where words.count <= 1: return try RoomLister(arguments, shared).list()
        case "invitations" where words.count == 1: return try RoomLister(arguments, shared).invitations()
        case "members" where words.count == 2: return try RoomLister(arguments, shared).members(of: try JID(words[1]))
        case "leave" where words.count == 2:
            return try IntentRunner(arguments, shared).run(LeaveRoom(try JID(words[1])))
        case let word:
            guard let intent = try intent(word, arguments) else { throw misuse(word) }
            if word == "create" { return try create(intent, arguments, shared) }
            return try IntentRunner(arguments, shared).run(intent, waiting: !arguments.has("--queue-only"))
        }
    }

    /// Prints the new group in the format of `list`, which includes its address.
    private static func create(
        _ intent: any Intent, _ arguments: Arguments, _ shared: SharedOptions
    ) throws -> ExitStatus {
        let reading = try RoomLister(arguments, shared)
        let before = try reading.addresses()
        let status = try IntentRunner(arguments, shared).run(intent, waiting: !arguments.has("--queue-only"))
        if status == .done { _ = try reading.list(except: before) }
        return status
    }

    private static func misuse(_ word: String) -> Failure {
        usage.contains("\(word) ") || usage.contains("\(word)]")
            ? Failure(.usage, "`room \(word)`: wrong number of words")
            : Failure(.usage, "`room` has no \"\(word)\"")
    }

    /// The intent of the command; nil for another word, or too few or too many words.
    private static func intent(_ word: String, _ arguments: Arguments) throws -> (any Intent)? {
        let rest = Array(arguments.operands.dropFirst())
        if word == "create" { return rest.count == 1 ? try creating(rest[0], arguments) : nil }
        guard let room = try rest.first.map({ try JID($0) }) else { return nil }
        let reason = arguments.value("--reason")
        switch (word, rest.count) {
        case ("join", 1): return try joining(room, arguments)
        case ("decline", 1): return DeclineInvitation(room)
        case ("describe", 1): return DescribeInvitation(room)
        case ("destroy", 1):
            return DestroyRoom(room, successor: try arguments.value("--successor").map { try JID($0) }, reason: reason)
        case ("invite", 2...): return Invite(room, try rest.dropFirst().map { try JID($0) }, reason: reason)
        case ("config", 2...): return ConfigureRoom(room, try settings(rest.dropFirst()))
        case ("remove", 2): return SetRole(room, rest[1], arguments.has("--ban") ? "outcast" : "none", reason: reason)
        case ("rename", 2): return ConfigureRoom(room, title: rest[1])
        case ("subject", 2): return SetSubject(room, rest[1])
        case ("avatar", 2): return SetRoomPicture(room, avatar: try picture(rest[1]))
        case ("nick", 2): return JoinRoom(room, nick: rest[1])
        case ("moderate", 2): return Moderate(room, MessageReference(rest[1]), reason: reason)
        case ("role", 3): return SetRole(room, rest[1], rest[2], reason: reason)
        default: return nil
        }
    }

    private static func creating(_ title: String, _ arguments: Arguments) throws -> CreateRoom {
        let people = arguments.value("--invite")?.split(separator: ",").map(String.init) ?? []
        return CreateRoom(
            title: title, nick: arguments.value("--nick"), inviting: try people.map { try JID($0) },
            avatar: try arguments.value("--avatar").map { try Files.contents($0, limit: SetProfile.largestAvatar) })
    }

    private static func joining(_ room: JID, _ arguments: Arguments) throws -> JoinRoom {
        let password = try arguments.value("--password-file").map { try Password.firstLine(of: $0) }
        return JoinRoom(
            room, nick: arguments.value("--nick"), password: password, showAddress: arguments.has("--show-address"))
    }

    private static func settings(_ words: ArraySlice<String>) throws -> [String: String] {
        var settings: [String: String] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw Failure(.usage, "\"\(word)\" is no setting: NAME=VALUE")
            }
            settings[parts[0]] = parts[1]
        }
        return settings
    }

    private static func picture(_ path: String) throws -> [UInt8] {
        path == "none" ? [] : try Files.contents(path, limit: SetProfile.largestAvatar)
    }
}

/// The commands that print the stored rooms.
private struct RoomLister {
    private let shared: SharedOptions
    private let reader: Rooms
    private let account: Account

    init(_ arguments: Arguments, _ shared: SharedOptions) throws {
        self.shared = shared
        let database = try shared.directory.read()
        let jid = try arguments.value("--account").map { try JID($0) }
        reader = Rooms(database)
        account = try AccountTable(database).account(jid, in: shared.directory)
    }

    func addresses() throws -> Set<JID> { Set(try reader.rooms(of: account).map(\.jid)) }

    /// - Parameter known: the rooms to omit.
    func list(except known: Set<JID> = []) throws -> ExitStatus {
        let rooms = try reader.rooms(of: account).filter { !known.contains($0.jid) }
        for room in rooms {
            Output.line(
                shared.json ? try JSONLine.of(RoomRecord(room, of: account, at: Clock.system.now())) : room.line)
        }
        return rooms.isEmpty ? .nothing : .done
    }

    func invitations() throws -> ExitStatus {
        try ContactLister.show(
            try reader.invitations(of: account).map { ($0.at, InvitationChanged($0, isClosed: false)) }, of: account,
            shared, line: \.invitation.line)
    }

    func members(of room: JID) throws -> ExitStatus {
        let occupants = try reader.occupants(of: room, for: account)
        let present = Set(occupants.compactMap(\.jid))
        for member in try reader.members(of: room, for: account) where !present.contains(member.jid) {
            let event = MemberChanged(room: room, member)
            let record = EventRecord(
                MemberChanged.name, account: account.jid.description, at: Clock.system.now(), event.fields)
            Output.line(shared.json ? try JSONLine.of(record) : "\(member.jid), \(member.affiliation), not present")
        }
        for occupant in occupants {
            Output.line(shared.json ? try JSONLine.of(OccupantRecord(occupant, in: room, of: account)) : occupant.line)
        }
        return occupants.isEmpty ? .nothing : .done
    }
}

/// A line of `kalij room members --json`.
private struct OccupantRecord: Encodable {
    let event = "occupant"
    let account: String
    let at: String
    let room: String
    let nick: String
    let occupant: String?
    let affiliation: String
    let role: String

    init(_ occupant: Occupant, in room: JID, of account: Account) {
        self.account = account.jid.description
        at = Stamp.of(Clock.system.now())
        (self.room, nick, self.occupant) = (room.description, occupant.nick, occupant.jid?.description)
        (affiliation, role) = (occupant.affiliation, occupant.role)
    }
}
