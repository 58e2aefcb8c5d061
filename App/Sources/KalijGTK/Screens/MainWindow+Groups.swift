import CAdwaita
import KalijAddress
import KalijApp
import KalijClient

/// New groups, and the members of existing ones.
extension MainWindow {
    private var account: String? { thread?.key.account ?? accounts.first }

    func newGroup() {
        guard let account else { return showFirstStart() }
        side.newGroup.onSubmit = { [weak self] form, people in self?.create(form, people, account) }
        side.newGroup.onPicture = { [weak self] chosen in self?.choosePicture { chosen($0) } }
        fillGuests(nil, account)
    }

    /// - Parameter group: the name of the group to invite to; nil for a new group.
    private func fillGuests(_ group: String?, _ account: String) {
        side.newGroup.onBack = { [weak self] in self?.goBack() }
        Task {
            side.newGroup.begin(group, account: account, (try? await reader.guests(of: account)) ?? [])
            side.show(.newGroup)
        }
    }

    private func create(_ form: GroupForm, _ people: [JID], _ account: String) {
        let former = thread?.key
        let intent = CreateRoom(title: form.name, inviting: people, avatar: form.picture)
        // The form stays until the group is stored: on a full disk it is tried again.
        let accepted = { [weak self] (isStored: Bool) -> Void in
            guard let self, side.shown == .newGroup else { return }
            side.newGroup.submitted()
            guard isStored else { return }
            leaveSide()
            focusList()
        }
        change(intent, of: account, Words.newGroup, accepted: accepted) { [weak self] room in
            // The user may have opened something else in the meantime.
            guard let self, let room, side.shown == nil, thread?.key == former, screen.composer.written.isEmpty else {
                return
            }
            let key = ConversationKey(account: account, jid: room)
            Task { if let row = try? await self.reader.conversation(key) { self.open(row) } }
        }
    }

    func act(_ action: ConversationRow.CreationAction, on creation: CreationState, _ key: ConversationKey) {
        switch action {
        case .retry: change(RetryGroup(creation.id), of: key.account, Words.newGroup)
        case .forget: accept(ForgetGroup(creation.id), in: key)
        }
        isAllDirty = true
    }

    // MARK: A group

    /// Opens the members of the open conversation, if it is a group.
    func openGroup() {
        guard let thread, thread.isGroup else { return }
        let screen = side.group
        screen.onBack = { [weak self] in self?.goBack() }
        screen.onAction = { [weak self] action, page in self?.act(action, on: page) }
        screen.onMember = { [weak self] action, member, page in self?.act(action, on: member, page) }
        screen.onNotify = { [weak self] action, page in self?.notify(action, in: page.key) }
        groupKey = thread.key
        Task {
            await readGroup()
            side.show(.group)
            screen.focus()
            guard let page = screen.page else { return }
            Announcer.say(page.spoken)
            fetchPictures(of: page)
        }
    }

    /// Reads the nicknames that the composer completes, and the line below the name.
    func readHead(of thread: Thread) async {
        let head = thread.isGroup ? (try? await reader.groupHead(thread.key)) ?? nil : nil
        guard self.thread?.key == thread.key else { return }
        screen.mentions.names = head?.nicks ?? []
        if let former = screen.head, let words = head?.change(since: former) { Announcer.say(words) }
        screen.head = head
        if let head, let openRow { show(openRow, head.line) }
    }

    /// Fetches the picture of the group, and those of the first members, which announced one. A room that was not entered announces
    /// nothing: its vCard has the picture.
    private func fetchPictures(of page: GroupPage) {
        var intents = page.members.compactMap(\.offersPicture).prefix(Self.mostPictures).map {
            FetchProfile(.received($0), vcard: false)
        }
        intents.append(FetchProfile(.received(page.key.jid), vcard: page.problem != nil && page.picture == nil))
        for intent in intents { Task { _ = try? await backend.accept(intent, for: page.key.account) } }
    }

    private func readGroup() async {
        guard let key = groupKey,
            let page = try? await reader.group(
                key, isOnline: states[key.account].map { !$0.isOffline } ?? (driving == .elsewhere))
        else { return }
        side.group.show(page)
        side.group.show(waiting: pendingChanges)
    }

    /// Reads the group again if it is shown.
    func lookAtGroup() {
        guard groupKey != nil, side.shown == .group else { return }
        groupPace.run { [weak self] in Task { await self?.readGroup() } }
    }

    private func act(_ action: GroupAction, on page: GroupPage) {
        let jid = JID.received(page.key.jid)
        let change = { [weak self] (intent: any Intent) -> Void in
            self?.change(intent, of: page.key.account, action.plain)
        }
        switch action {
        case .invite:
            side.newGroup.onSubmit = { [weak self] _, people in
                self?.openGroup()
                change(Invite(jid, people))
            }
            fillGuests(page.name, page.key.account)
            side.newGroup.onBack = { [weak self] in self?.openGroup() }
        case .rename:
            Dialogs.ask(over: window, action.plain, Words.groupName, page.name) { name in
                if name.contains(where: { !$0.isWhitespace }) { change(ConfigureRoom(jid, title: name)) }
            }
        case .changeTopic:
            Dialogs.ask(over: window, action.plain, Words.topic, page.topic) { change(SetSubject(jid, $0)) }
        case .changePicture: choosePicture { change(SetRoomPicture(jid, avatar: $0)) }
        case .encrypt(true): encrypt(page.key, action.plain)
        case .encrypt(false):
            let question = Words.question(ContactAction.encrypt(false), page.name)
            Dialogs.confirm(over: window, question.heading, question.hint, question.button) {
                change(EncryptConversation(jid, false))
            }
        case .join: change(JoinRoom(jid))
        case .leave:
            Dialogs.confirm(over: window, Words.leaveQuestion(page.name), Words.leaveHint, Words.leave) { [weak self] in
                change(LeaveRoom(jid))
                self?.leaveSide()
            }
        case .destroy:
            Dialogs.confirm(
                over: window, Words.destroyQuestion(page.name), Words.destroyHint, Words.destroy
            ) { change(DestroyRoom(jid)) }
        }
    }

    private func act(_ action: MemberAction, on member: MemberRow, _ page: GroupPage) {
        guard let jid = member.jid else { return }
        guard let affiliation = action.affiliation else {
            let key = ConversationKey(account: page.key.account, jid: jid)
            Task { open((try? await reader.conversation(key)) ?? ConversationRow(key: key, name: key.jid.shownName)) }
            return
        }
        let change = { [weak self] () -> Void in
            self?.change(
                SetRole(.received(page.key.jid), jid, affiliation), of: page.key.account,
                Words.on(member.title, action.plain))
        }
        guard action.isDestructive else { return change() }
        // The address, too: another's nickname can imitate the name.
        let name = member.subtitle == member.title ? member.title : member.title + " (" + member.subtitle + ")"
        let question = Words.question(action, name)
        Dialogs.confirm(over: window, question.heading, Words.hint(action), question.button, change)
    }

    /// - Parameter title: the title of the file chooser.
    func choosePicture(_ title: String = Words.groupPicture, _ chosen: @escaping ([UInt8]) -> Void) {
        guard
            let chooser = kalij_file_chooser(
                title, cast(raw(window)), GTK_FILE_CHOOSER_ACTION_OPEN, Words.open)
        else { return }
        connect(chooser, "response") { [weak self] arguments in
            if arguments.int(1) == GTK_RESPONSE_ACCEPT.rawValue,
                let file = gtk_file_chooser_get_file(kalij_chooser(chooser))
            {
                if let bytes = Self.picture(file) { chosen(bytes) } else { self?.toast(Words.pictureTooLarge) }
                g_object_unref(raw(file))
            }
            g_object_unref(chooser)
        }
        gtk_native_dialog_show(kalij_native_dialog(chooser))
    }

    /// The content of a local file; nil if it is larger than a picture may be.
    private static func picture(_ file: OpaquePointer) -> [UInt8]? {
        guard let path = g_file_get_path(file) else { return nil }
        defer { g_free(path) }
        return PictureBytes.read(String(cString: path))
    }
}
