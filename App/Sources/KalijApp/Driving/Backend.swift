import Dispatch
import Glibc
import KalijAddress
import KalijClient
import KalijCoordination
import Synchronization

/// Keeps the accounts online, or follows the process that does, and takes over when that process ends.
public final class Backend: Sendable {
    public let directory: AccountDirectory
    private let engine = Mutex<RunningEngine?>(nil)
    private let changes = Mutex<DirectoryChanges?>(nil)
    private let isStopped = Mutex(false)
    private let wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    private let present: Presenter?
    private let retryPause: Duration

    /// Presents the notifications of an engine of this process, until the engine ends.
    public typealias Presenter = @Sendable (Notifications) async -> Void

    /// - Parameter retryPause: the time until a start of the engine that failed is tried again.
    public init(
        _ directory: AccountDirectory, presenting present: Presenter? = nil, retryPause: Duration = .seconds(5)
    ) {
        (self.directory, self.present, self.retryPause) = (directory, present, retryPause)
    }

    var running: RunningEngine? { engine.withLock { $0 } }

    /// Whether this process drives: changes are performed when they are accepted, and not by another one later.
    public var isDriving: Bool { running != nil }

    /// The changes from now on; for one reader.
    public func looks() -> AsyncStream<Look> {
        let (stream, looks) = AsyncStream.makeStream(of: Look.self)
        Task.detached { [self] in
            await run(looks)
            looks.finish()
        }
        return stream
    }

    /// Connects at once, because an account was added or the user requested it.
    public func tryNow() {
        running?.pushArrived()
        changes.withLock { $0 }?.connectNow()
        wakes.continuation.yield()
    }

    /// Stops the engine and releases all locks, within a second.
    public func stop() async {
        isStopped.withLock { $0 = true }
        wakes.continuation.yield()
        _ = try? await running?.stop()
    }

    // MARK: Driving

    private func run(_ looks: AsyncStream<Look>.Continuation) async {
        var woken = wakes.stream.makeAsyncIterator()
        var pause = Self.shortest
        while !isStopped.withLock({ $0 }) {
            do {
                var options = Engine.Options()
                options.notifies = present != nil
                let engine = try await Engine.start(role: .main, in: directory, options: options)
                self.engine.withLock { $0 = engine }
                defer { self.engine.withLock { $0 = nil } }
                let presenting = Task { [present] in await present?(engine.notifications) }
                defer { presenting.cancel() }
                looks.yield(.driving(.here))
                looks.yield(.everything)
                let listening = Task {
                    while !Task.isCancelled { if await !hear(looks) { try? await Task.sleep(for: Self.shortest) } }
                }
                defer { listening.cancel() }
                _ = try await engine.waitUntilEnded()
            } catch FenceError.held {
                looks.yield(.driving(.elsewhere))
                if await hear(looks) {
                    pause = Self.shortest
                } else {
                    // A process that holds the fence and does not listen: not yet, no longer, or because it is of an earlier
                    // version.
                    try? await Task.sleep(for: pause)
                    pause = min(pause * 2, Self.longest)
                }
                looks.yield(.everything)
            } catch DirectoryError.noAccount, DirectoryError.allLoggedOut {
                looks.yield(.driving(.noAccount))
                await woken.next()
            } catch EngineError.refused(let account, _) {
                looks.yield(.state(account: account.description, .refused))
                looks.yield(.driving(.starting))
                await woken.next()
            } catch {
                looks.yield(.driving(.failed(Words.why(error))))
                // A full disk, or one that only can be read, may be mended without a word to this process.
                let retry = Task { [wakes, retryPause] in
                    try await Task.sleep(for: retryPause)
                    wakes.continuation.yield()
                }
                await woken.next()
                retry.cancel()
            }
        }
    }

    private static let (shortest, longest) = (Duration.milliseconds(100), Duration.seconds(2))

    /// Forwards changes until the driver ends: this process's engine, or another process.
    /// - Returns: false if the driver accepts no subscription.
    private func hear(_ looks: AsyncStream<Look>.Continuation) async -> Bool {
        guard let changes = DirectoryChanges(directory) else { return false }
        self.changes.withLock { $0 = changes }
        for await news in changes { if let look = Look(news) { looks.yield(look) } }
        self.changes.withLock { $0 = nil }
        return true
    }

    // MARK: Intents

    /// Accepts a message, whose draft is removed: in this process if it drives, else through the mailbox.
    /// - Parameter answered: the row of the message that the text replies to.
    public func send(_ text: String, to key: ConversationKey, answering answered: Int64? = nil) async throws {
        let (recipient, sender) = (try JID(key.jid), try JID(key.account))
        let answered = answered.map(MessageReference.row)
        if let engine = running {
            try await engine.accept(text, to: recipient, from: sender, answering: answered, endsDraft: true)
        } else {
            let directory = directory
            try await onOwnThread {
                _ = try directory.share(text, to: recipient, from: sender, answering: answered, endsDraft: true)
            }
        }
    }

    /// Accepts a file, and a text that follows it: when this returns, a copy of the file is on the disk.
    /// - Parameter endsDraft: whether the draft is removed with the acceptance.
    public func sendFile(_ path: String, text: String?, to key: ConversationKey, endsDraft: Bool) async throws {
        let (recipient, attachments) = (try JID(key.jid), Attachments(directory, of: try JID(key.account)))
        try await onOwnThread { try attachments.send(path, to: recipient, text: text, endsDraft: endsDraft) }
    }

    /// Accepts a change.
    /// - Returns: the id of the intent.
    @discardableResult
    public func accept(_ intent: some Intent & Sendable, for account: String) async throws -> String {
        let jid = try JID(account)
        if let engine = running { return try await engine.accept(intent, for: jid) }
        let directory = directory
        return try await onOwnThread { try directory.share(intent, for: jid) }
    }

    /// Stores a draft, or the text of a correction in progress; an empty one is removed.
    public func keep(_ draft: StoredDraft, for key: ConversationKey) async throws {
        guard let corrected = draft.composing.corrected else {
            return try await keepDraft(draft.text, for: key, answering: draft.composing.answered)
        }
        try await accept(SetCorrectionDraft(draft.text, of: .row(corrected)), for: key.account)
    }

    /// - Parameter answered: the row of the message that the text replies to.
    public func keepDraft(_ text: String, for key: ConversationKey, answering answered: Int64? = nil) async throws {
        let draft = SetDraft(text, for: try JID(key.jid), answering: answered.map(MessageReference.row))
        try await accept(draft, for: key.account)
    }

    /// Sends the user's state in the chat, if this process drives: a state in the mailbox would be sent too late.
    public func send(_ state: ChatState, to key: ConversationKey) async {
        guard let engine = running, let account = try? JID(key.account), let contact = try? JID(key.jid) else { return }
        _ = try? await engine.accept(SetTyping(state, to: contact), for: account)
    }

    /// Marks everything up to the message in `row` as read.
    public func read(through row: Int64, in key: ConversationKey) async throws {
        try await accept(MarkRead(JID(key.jid), through: .row(row)), for: key.account)
    }

    /// Fetches the missing messages of a gap.
    public func load(_ gap: GapRow, of key: ConversationKey) async throws {
        let (account, directory) = (try JID(key.account), directory)
        let room = try gap.room.map { try JID($0) }
        try await onOwnThread {
            try directory.accept(for: account) { try $0.fetchHistory(older: 200, gaps: true, of: room) }
        }
    }

    /// Requests older messages of a conversation from the server.
    public func loadOlder(_ key: ConversationKey) async throws {
        let (account, peer, directory) = (try JID(key.account), try JID(key.jid), directory)
        try await onOwnThread {
            try directory.accept(for: account) { try $0.fetchHistory(older: Window.begin, with: peer) }
        }
    }

    /// Runs `body`, which may wait for the disk.
    @discardableResult
    public func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
            DispatchQueue.global().async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
