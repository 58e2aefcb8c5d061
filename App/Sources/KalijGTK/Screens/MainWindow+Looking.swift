import CAdwaita
import KalijApp

extension MainWindow {
    /// The backend says where to look.
    func heard(_ look: Look) {
        switch look {
        case .conversation(let key): dirty.insert(key)
        case .everything: isAllDirty = true
        case .state(let account, let state):
            // Since when an account is offline does not change with each attempt.
            if case .offline = state, case .offline = states[account] { return }
            if case .connecting = state, case .offline = states[account] { return }
            states[account] = state
            return showBanner()
        case .driving(let now):
            driving = now
            if now == .noAccount { showFirstStart() }
            if now == .elsewhere { states = [:] }
            isAllDirty = true
            showBanner()
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
            // Nobody says when the other side is gone.
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

    /// Looks once for all that has changed since: at most once a frame.
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

    /// Many conversations at once are read as all.
    private static let mostSingle = 8

    private func lookOnce() async {
        let (keys, isAll) = (dirty, isAllDirty || dirty.count > Self.mostSingle)
        (dirty, isAllDirty) = ([], false)
        if let key = thread?.key, isAll || keys.contains(key) { await lookAtThread() }
        if isAll {
            await reader.forgetFaces()
            await lookAtAll()
        } else {
            for key in keys {
                if let row = try? await reader.conversation(key) { conversations.read(key, row) }
            }
        }
        if let key = thread?.key, let row = conversations.model.row(key) { shownAnew(row) }
    }

    func lookAtAll() async {
        accounts = await reader.addresses()
        if let rows = try? await reader.all() { conversations.read(rows) }
    }

    /// Reads the held part of the open conversation anew.
    func lookAtThread() async {
        guard let before = thread else { return }
        let (window, isAtEnd) = (before.window, screen.isAtEnd)
        guard let page = try? await reader.page(before.key, window, waiting: driving != .here),
            var now = thread, now.key == before.key, now.window == window
        else { return }
        let arrived = now.read(page)
        trim(&now, isAtEnd)
        thread = now
        show(now)
        let hasNew = page.messages.last?.id != before.page.messages.last?.id
        if isAtEnd, hasNew, !now.rows.isEmpty { screen.list.scroll(to: now.rows.count - 1) }
        for message in arrived { Announcer.arrived(Words.said(message.author, message.text.shownStart)) }
        if !arrived.isEmpty {
            typists[now.key].map { _ = g_source_remove($0) }
            typists[now.key] = nil
            showTypist()
        }
        markRead()
    }

    /// The newest messages are held up to a bound; who reads them loses nothing at the other end.
    private func trim(_ thread: inout Thread, _ isAtEnd: Bool) {
        if thread.window.first == nil, !isAtEnd, let first = thread.page.messages.first(where: { $0.id > 0 }) {
            // Who reads further up stays with the same messages.
            thread.window = Window(first: first.id, count: Window.most)
        }
    }

    func show(_ thread: Thread) {
        screen.show(thread.rows, name: openRow?.name ?? "")
        screen.showToLatest(thread.page.hasNewer || thread.window.first != nil && !screen.isAtEnd)
    }
}
