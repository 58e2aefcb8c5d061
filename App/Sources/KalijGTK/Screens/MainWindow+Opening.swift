import CAdwaita
import KalijApp

extension MainWindow {
    /// Opens a conversation at the first unread message, or at its end.
    func open(_ row: ConversationRow) {
        if let found = row.found { return open(row, found: found) }
        guard row.key != thread?.key else {
            leaveSide()
            showConversation()
            screen.composer.text.focus()
            return
        }
        Task { await open(row, at: nil) }
    }

    /// Opens a conversation at its last scroll position.
    func open(_ place: Place) async {
        guard let row = try? await reader.conversation(place.key) else { return }
        await open(row, at: place.message)
    }

    /// - Parameter isFound: whether `message` is the result of a search: the row is focused, in the middle of the screen.
    func open(_ row: ConversationRow, at message: Int64?, isFound: Bool = false) async {
        guard row.creation == nil else { return }
        leaveSide()
        markRead(isLeaving: true)
        leaveComposer()
        var thread = Thread(row.key, isGroup: row.isGroup)
        self.thread = thread
        readingPace.opened()
        (isPaging, fetchedBefore) = (true, nil)
        conversations.open(row.key)
        screen.head = nil
        shownAnew(row)
        showTypist()
        showConversation()
        // What was stored when the conversation was left a moment ago is read.
        await writes.finish(within: .milliseconds(500))
        let texts = (try? await reader.unsent(row.key)) ?? (draft: StoredDraft(), correction: nil)
        thread.firstUnread = row.unread > 0 && !isFound ? (try? await reader.firstUnread(row.key)) ?? nil : nil
        if let around = message ?? thread.firstUnread {
            thread.window = (try? await reader.window(row.key, before: Window.begin, around)) ?? nil ?? Window()
            if isFound { thread.window.count = min(thread.window.count, 2 * Window.begin + 1) }
        }
        let page = await page(row.key, thread.window) ?? Page()
        guard self.thread?.key == row.key else { return }
        _ = thread.read(page)
        self.thread = thread
        screen.composer.begin(with: texts.draft, correcting: texts.correction, unsent.take(row.key))
        let place = isFound ? message.flatMap(thread.place(of:)) : nil
        screen.layOut(around: place)
        show(thread)
        if let place {
            screen.list.center(place)
        } else {
            screen.list.scroll(to: message.flatMap(thread.place(of:)) ?? thread.opening, atTop: true)
            screen.composer.text.focus()
        }
        places.keep(Place(row.key, message: message))
        after(60) { [weak self] in self?.settle(row.key, isFound: isFound) }
        await readHead(of: thread)
    }

    /// Loads the rest of the first part after the first frame. A list without a layout appears to be at its end.
    private func settle(_ key: ConversationKey, isFound: Bool) {
        guard thread?.key == key else { return }
        guard !screen.list.isScrolling else {
            after(60) { [weak self] in self?.settle(key, isFound: isFound) }
            return
        }
        screen.layOut(around: nil)
        isPaging = false
        guard !isFound else { return }
        markRead()
        older()
    }

    func shownAnew(_ row: ConversationRow) {
        let isSame = openRow?.key == row.key
        openRow = row
        // The line of a group is read later, and stays.
        show(row, row.isGroup ? isSame ? nil : "" : row.name == row.key.jid ? "" : row.key.jid)
    }

    /// - Parameter line: what is below the name; nil to leave it.
    func show(_ row: ConversationRow, _ line: String?) {
        let account = accounts.count > 1 ? Words.writesAs(row.key.account) : ""
        screen.show(
            name: row.name, subtitle: line.map { [account, $0].filter { !$0.isEmpty }.joined(separator: ", ") },
            isGroup: row.isGroup)
    }

    // MARK: Pages

    /// Loads older messages.
    func older() {
        guard !isPaging, let thread else { return }
        guard thread.page.hasOlder, let first = thread.page.messages.first(where: { $0.id > 0 }) else {
            return fetchOlder(before: thread.oldest)
        }
        isPaging = true
        Task {
            defer { isPaging = false }
            guard let window = try? await reader.window(thread.key, before: Window.step, first.id) else { return }
            await turn(to: window, of: thread.key)
        }
    }

    /// Loads newer messages.
    func newer() {
        guard let window = thread?.newer else {
            markRead()
            return
        }
        guard !isPaging, let key = thread?.key else { return }
        isPaging = true
        Task {
            defer { isPaging = false }
            await turn(to: window, of: key)
        }
    }

    /// Shows the newest messages.
    func latest() {
        guard let key = thread?.key else { return }
        Task {
            await turn(to: Window(count: Window.begin + Window.step), of: key)
            if let count = thread?.rows.count { screen.list.scroll(to: max(0, count - 1)) }
            screen.composer.text.focus()
        }
    }

    private func turn(to window: Window, of key: ConversationKey) async {
        guard let page = await page(key, window), var now = thread, now.key == key else { return }
        now.window = window
        _ = now.read(page)
        thread = now
        show(now)
    }

    func load(_ gap: GapRow) {
        guard let key = thread?.key else { return }
        Task {
            do { try await backend.load(gap, of: key) } catch { toast(Words.notAccepted(Words.why(error))) }
        }
    }

    // MARK: Places

    /// The visible part has changed.
    func scrolled() {
        if let thread { screen.showToLatest(!screen.isAtEnd || thread.page.hasNewer) }
        guard !isPlaceWaiting else { return }
        isPlaceWaiting = true
        after(300) { [weak self] in
            self?.isPlaceWaiting = false
            self?.keepPlace()
        }
    }

    func keepPlace() {
        guard let thread else { return }
        // A position during scrolling is not stored.
        guard !screen.list.isScrolling, !isPaging else { return isQuitting ? () : scrolled() }
        let isAtEnd = screen.isAtEnd && !thread.page.hasNewer
        let top = isAtEnd ? nil : screen.topMessage?.id
        // Between two layouts no row is at the top.
        guard isAtEnd || top != nil else { return scrolled() }
        places.keep(Place(thread.key, message: top))
    }

    /// Marks the messages on the focused screen as read.
    func markRead(isLeaving: Bool = false) {
        guard gtk_window_is_active(cast(raw(window))) != 0, let thread, !isPaging, screen.isAtEnd,
            !thread.page.hasNewer, let last = thread.page.messages.last(where: { !$0.isOwn && $0.id > 0 }),
            openRow?.unread ?? 0 > 0
        else { return }
        switch readingPace.displayed(last.id, now: Int64(g_get_monotonic_time() / 1000), isLeaving: isLeaving) {
        case .mark?: writes.add { [weak self] in try? await self?.backend.read(through: last.id, in: thread.key) }
        case .wait(let time)?:
            after(UInt32(clamping: time)) { [weak self] in
                self?.readingPace.waited()
                self?.markRead()
            }
        case nil: break
        }
    }

    // MARK: Writing

    func send(_ text: String, _ meaning: Composing) {
        guard let key = thread?.key else { return }
        if meaning.isCorrection { return correct(text, meaning, in: key) }
        writes.add { [weak self] in
            guard let self else { return }
            if await mustDecide(in: key, before: text) { return await giveBack(StoredDraft(text, meaning), in: key) }
            do { try await backend.send(text, to: key, answering: meaning.answered) } catch {
                toast(Words.notAccepted(Words.why(error)))
                await giveBack(StoredDraft(text, meaning), in: key)
            }
            dirty.insert(key)
            look()
            if thread?.page.hasNewer ?? false || !screen.isAtEnd { latest() }
        }
    }

    /// The composer is emptied: its text is stored, files are kept until the conversation is opened again.
    func leaveComposer() {
        let files = screen.composer.leave()
        if let key = thread?.key { unsent.keep(files, for: key) }
    }

    /// Restores a text that was not accepted.
    func giveBack(_ draft: StoredDraft, in key: ConversationKey) async {
        if thread?.key == key { return screen.composer.giveBack(draft) }
        if draft.composing.isCorrection { return _ = try? await backend.keep(draft, for: key) }
        // What was written since was stored when the conversation was left.
        let since = (try? await reader.draft(key)) ?? StoredDraft()
        try? await backend.keepDraft(
            draft.followed(by: since.text), for: key, answering: draft.composing.answered ?? since.composing.answered)
    }

    func keepDraft(_ draft: StoredDraft) {
        guard let key = thread?.key else { return }
        writes.add { [weak self] in
            guard let self else { return }
            try? await backend.keep(draft, for: key)
            dirty.insert(key)
            look()
        }
    }
}
