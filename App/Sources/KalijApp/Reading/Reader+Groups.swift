import KalijAddress
import KalijClient

extension Reader {
    private func rooms() throws -> Rooms { Rooms(try database()) }
    private func contacts() throws -> Contacts { Contacts(try database()) }

    // MARK: Groups in creation

    /// The groups in creation, as rows.
    func creations(of account: Account) throws -> [ConversationRow] {
        let showsAccount = try accounts().count > 1
        return try rooms().creations(of: account).map { creation in
            let key = ConversationKey(account: account.jid.description, jid: creation.id)
            var row = ConversationRow(key: key, name: creation.title.shownName)
            row.creation = CreationState(creation)
            (row.isGroup, row.showsAccount) = (true, showsAccount)
            return row
        }
    }

    /// The room that the intent `id` has created; nil if there is none, or not yet.
    public func room(createdBy id: String, by account: String) throws -> String? {
        guard let account = try self.account(account) else { return nil }
        return try rooms().room(createdBy: id, for: account)?.description
    }

    /// The names of the groups that `account` owns, and nobody else.
    public func ownedGroups(of account: String) throws -> [String] {
        guard let account = try self.account(account) else { return [] }
        let rooms = try rooms()
        return try rooms.rooms(of: account).filter { room in
            guard try room.isGroup && rooms.rights(in: room.jid, for: account)?.appoints ?? false else { return false }
            return try rooms.members(of: room.jid, for: account)
                .allSatisfy { $0.affiliation != "owner" || $0.jid == account.jid }
        }
        .map { ($0.name ?? $0.jid.description).shownName }
    }

    // MARK: A group

    /// The people who can be invited: the contacts, in the order of their names.
    public func guests(of account: String) throws -> [GroupGuest] {
        guard let account = try self.account(account) else { return [] }
        let rooms = Set(try rooms().rooms(of: account).map(\.jid))
        return try contacts().contacts(of: account).filter { !rooms.contains($0.jid) && $0.jid.local != nil }
            .map { GroupGuest(jid: $0.jid.description, name: ($0.name ?? $0.jid.description).shownName) }
            .sorted { ($0.name.lowercased(), $0.jid) < ($1.name.lowercased(), $1.jid) }
    }

    /// What an open group needs besides its messages; nil if the account has no such room.
    public func groupHead(_ key: ConversationKey) throws -> GroupHead? {
        let jid = JID.received(key.jid)
        guard let account = try account(of: key), let room = try rooms().room(jid, of: account) else { return nil }
        let count = try rooms().peopleCount(in: jid, for: account)
        let topic = room.subject?.shownLine ?? ""
        return GroupHead(
            line: Words.head(count, isGroup: room.isGroup, topic: topic), topic: topic,
            nicks: try rooms().occupants(of: jid, for: account).map(\.nick).filter { $0 != room.nick })
    }

    /// A group with its members; nil if the account has no such room.
    /// - Parameter isOnline: whether the account is connected: otherwise nobody's presence is known.
    public func group(_ key: ConversationKey, isOnline: Bool) throws -> GroupPage? {
        let jid = JID.received(key.jid)
        guard let account = try account(of: key), let room = try rooms().room(jid, of: account) else { return nil }
        let rights = try rooms().rights(in: jid, for: account)
        let encryption = try encryptionOutcome(key)
        return GroupPage(
            key: key, name: (room.name ?? key.jid).shownName, topic: room.subject?.shownText.text ?? "",
            picture: try contacts().profile(of: jid, for: account)?.avatarFile,
            problem: rights == nil ? Words.outside(room) : nil, encryption: Words.encryption(encryption),
            actions: GroupAction.all(in: room, rights, isEncrypted: encryption != nil),
            notifications: try conversation(key)?.notifications
                ?? NotificationChoice(notify: .all, mutedUntil: nil, isGroup: true),
            members: try members(of: room, by: account, rights, knowsPresence: isOnline && rights != nil))
    }

    private func members(
        of room: Room, by account: Account, _ rights: RoomRights?, knowsPresence: Bool
    ) throws -> [MemberRow] {
        let names = Dictionary(
            try contacts().contacts(of: account).compactMap { contact in
                contact.name.map { (contact.jid, $0.shownName) }
            }, uniquingKeysWith: { first, _ in first })
        let pictures = try contacts().pictures(of: account)
        let own = try contacts().profile(of: account.jid, for: account)
        var rows: [MemberRow] = []
        var seen: Set<JID> = []
        func add(_ jid: JID?, _ occupant: Occupant?, _ affiliation: String) {
            if let jid, !seen.insert(jid).inserted { return }
            let isOwn = jid.map { $0 == account.jid } ?? (occupant?.nick == room.nick)
            // The own nickname is the account's local part: it says nothing about the user.
            let given = isOwn ? own?.nick.flatMap { $0.isEmpty ? nil : $0.shownName } : jid.flatMap { names[$0] }
            let name = given ?? (isOwn ? account.jid.description : occupant?.nick ?? jid?.description ?? "").shownName
            // Of a contact the own picture, else the one that the occupant shows in this room.
            let faces = [jid?.description, occupant.map { "\(room.jid)/\($0.nick)" }].compactMap { $0 }
            let face = faces.first { pictures[$0] != nil }
            let picture = (isOwn ? own?.avatarFile : nil) ?? face.flatMap { pictures[$0] ?? nil }
            rows.append(
                MemberRow(
                    jid: jid?.description, nick: occupant?.nick, name: name.shownAuthor, affiliation: affiliation,
                    role: occupant?.role ?? "none", isOwn: isOwn, isPresent: knowsPresence ? occupant != nil : nil,
                    picture: picture, offersPicture: picture == nil ? face : nil,
                    actions: isOwn || jid == nil
                        ? [] : MemberRow.actions(on: affiliation, isGroup: room.isGroup, rights)))
        }
        for occupant in try rooms().occupants(of: room.jid, for: account) {
            add(occupant.jid, occupant, occupant.affiliation)
        }
        for member in try rooms().members(of: room.jid, for: account) { add(member.jid, nil, member.affiliation) }
        let order = rows.map { (rank: $0.rank, name: $0.name.lowercased(), id: $0.id) }
        return rows.indices.sorted { order[$0] < order[$1] }.map { rows[$0] }
    }

    // MARK: Requests

    /// The number of the requests of all accounts.
    public func requestCount() throws -> Int {
        try accounts().reduce(0) { count, account in
            try count + rooms().invitations(of: account).count + contacts().requests(of: account).count
        }
    }

    /// The requests of all accounts, newest first.
    public func requests() throws -> [RequestRow] {
        let accounts = try accounts()
        var requests: [RequestRow] = []
        for account in accounts {
            requests += try invitations(account, accounts.count > 1)
            requests += try contactRequests(account, accounts.count > 1)
        }
        return requests.sorted { ($0.at, $0.key.jid) > ($1.at, $1.key.jid) }
    }

    private func invitations(_ account: Account, _ showsAccount: Bool) throws -> [RequestRow] {
        try rooms().invitations(of: account).map { invitation in
            let face = try invitation.inviter.map { try self.face(of: $0, account) }
            let picture = try contacts().profile(of: invitation.room, for: account)?.avatarFile
            return RequestRow(
                kind: .invitation,
                key: ConversationKey(account: account.jid.description, jid: invitation.room.description),
                group: invitation.title?.shownName, name: face?.name ?? "", address: invitation.inviter?.description,
                picture: face?.picture ?? picture, text: invitation.reason?.shownLine ?? "", at: invitation.at,
                showsAccount: showsAccount)
        }
    }

    private func contactRequests(_ account: Account, _ showsAccount: Bool) throws -> [RequestRow] {
        try contacts().requests(of: account).map { request in
            let face = try self.face(of: request.jid, account)
            return RequestRow(
                kind: .contact,
                key: ConversationKey(account: account.jid.description, jid: request.jid.description),
                name: face.name, address: request.jid.description, picture: face.picture,
                text: request.status?.shownLine ?? "", at: request.at, showsAccount: showsAccount)
        }
    }

    private func face(of jid: JID, _ account: Account) throws -> (name: String, picture: String?) {
        let name = try conversations(account).name(of: jid) ?? jid.description
        return (name.shownName.shownAuthor, try contacts().profile(of: jid, for: account)?.avatarFile)
    }

    // MARK: Outcomes

    /// The outcome of an intent; the reason of a failure is described for the user.
    public func outcome(of intent: String, by account: String) throws -> IntentOutcome {
        guard let account = try self.account(account) else { return .done }
        let reader = HistoryReader(try database())
        if let reason = try reader.failure(of: intent, by: account) { return .failed(Words.why(reason)) }
        return try reader.outcome(of: intent, by: account) ?? .pending
    }

    private func account(_ address: String) throws -> Account? {
        try accounts().first { $0.jid.description == address }
    }
}

extension MemberRow {
    fileprivate var rank: Int { isOwn ? -1 : ["owner", "admin", "member"].firstIndex(of: affiliation) ?? 3 }
}
