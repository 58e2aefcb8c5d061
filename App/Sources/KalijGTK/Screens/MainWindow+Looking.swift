import CAdwaita
import KalijApp

extension MainWindow {
    /// Handles a change that the backend reports.
    func heard(_ look: Look) {
        switch look {
        case .conversation(let key): dirty.insert(key)
        case .face(let key, let mayBeNew):
            // A member's picture or name.
            if key.account == groupKey?.account { lookAtGroup() }
            if mayBeNew || conversations.model.row(key) != nil { dirty.insert(key) }
        case .everything: isAllDirty = true
        case .state(let account, let state):
            if state == states[account] { return }
            if case .connecting = state, case .offline = states[account] { return }
            states[account] = state
            showBanner()
            Task { await lookAtSettings() }
            // Nobody's presence is known without a connection; messages and files wait for it.
            if let groupKey, groupKey.account == account { dirty.insert(groupKey) }
            if let thread, thread.key.account == account, thread.page.hasWaiting { dirty.insert(thread.key) }
        case .driving(let now):
            driving = now
            if now == .noAccount, !isFirstStart { showFirstStart() }
            if now == .elsewhere { states = [:] }
            isAllDirty = true
            showBanner()
        case .transfer(let account, let transfer, let bytes): return showProgress(account, transfer, bytes)
        case .typing(let key, let isTyping): return showTyping(key, isTyping)
        }
        self.look()
    }

    func showBanner() {
        conversations.banner.show(StateBanner.of(driving, states, time: Times.clock))
    }

    private func showTyping(_ key: ConversationKey, _ isTyping: Bool) {
        if let timer = typists.removeValue(forKey: key) { g_source_remove(timer) }
        if isTyping {
            // The end of composing is not signalled if the peer disconnects.
            typists[key] = after(30_000) { [weak self] in
                self?.typists[key] = nil
                self?.showTypist()
            }
        }
        showTypist()
    }

    func showTypist() {
        guard let thread, typists[thread.key] != nil, let openRow else { return screen.show(typing: nil) }
        screen.show(typing: openRow.name + " " + Words.typing)
    }

    /// Reads everything that has changed, at most once per frame.
    func look() {
        guard !isLooking else { return }
        isLooking = true
        Task {
            while isAllDirty || !dirty.isEmpty {
                await lookOnce()
                try? await Task.sleep(for: .milliseconds(16))
            }
            isLooking = false
        }
    }

    private func lookOnce() async {
        let (keys, isAll) = (dirty, isAllDirty)
        (dirty, isAllDirty) = ([], false)
        if let key = thread?.key, isAll || keys.contains(key) { await lookAtThread() }
        if isAll { await lookAtAll() }
        if !keys.isEmpty, let rows = try? await reader.rows(keys) { conversations.read(rows) }
        if let thread, thread.isGroup, keys.contains(thread.key) {
            nickPace.run { [weak self] in
                if let thread = self?.thread { Task { await self?.readHead(of: thread) } }
            }
        }
        if let groupKey, keys.contains(groupKey) { lookAtGroup() }
        if let contactKey, keys.contains(contactKey) { await lookAtContact() }
        guard let key = thread?.key, let row = conversations.model.row(key) else { return }
        shownAnew(row)
        markRead()
    }

    func lookAtAll() async {
        if let known = try? await reader.addresses() {
            accounts = known
            leaveEndedAccount()
        }
        guard let heads = try? await reader.heads() else { return }
        let wanted = conversations.read(heads: heads)
        conversations.read((try? await reader.rows(wanted)) ?? [])
        await lookAtSide()
    }

    /// Reads the loaded part of the open conversation again.
    func lookAtThread() async {
        guard let before = thread else { return }
        let isAtEnd = screen.isAtEnd && !before.page.hasNewer
        var window = before.held
        if isAtEnd { window.count = Window.mostFollowed }
        guard var page = await page(before.key, window) else { return }
        if isAtEnd, page.hasNewer {
            // While the newest messages are displayed, old ones are dropped at the other end: each loaded row takes time in each
            // frame, and so does each removal.
            window = Window(count: Window.mostFollowed - Window.mostArriving)
            guard let newest = await self.page(before.key, window) else { return }
            page = newest
        }
        if isAtEnd, page.limitArrivals(since: before.page) { dirty.insert(before.key) }
        guard var now = thread, now.key == before.key, now.window == before.window else { return }
        let arrived = now.read(page)
        now.window = window
        thread = now
        show(now)
        // Older messages of the server were stored: they are inserted in front, where they do not move the reader.
        if before.page.beginning != nil, page.hasOlder { older() }
        let hasNew = page.messages.last?.id != before.page.messages.last?.id
        if isAtEnd, hasNew, !now.rows.isEmpty { screen.list.scroll(to: now.rows.count - 1) }
        for message in arrived { Announcer.arrived(Words.said(message.author, message.text.shownStart)) }
        for words in now.page.changes(since: before.page) { Announcer.say(words) }
        if !arrived.isEmpty {
            typists[now.key].map { _ = g_source_remove($0) }
            typists[now.key] = nil
            showTypist()
        }
    }

    /// Reads a part of a conversation; nil if it cannot be read now.
    func page(_ key: ConversationKey, _ window: Window) async -> Page? {
        var page = try? await reader.page(key, window, waiting: driving != .here)
        if let deletion, deletion.key == key { for id in deletion.messages { page?.remove(id) } }
        if states[key.account]?.isOffline ?? false { page?.noteOffline() }
        return page
    }

    func show(_ thread: Thread) {
        screen.show(thread.rows, name: openRow?.name ?? "")
        if thread.page.hasNewer { screen.showToLatest(true) }
        screen.composer.follow(thread.page)
        screen.composer.placeholder = Words.placeholder(of: thread.page)
    }
}
