import KalijCoordination
import KalijStore
import KalijText

/// Imports the items that other processes have left in the mailbox: moves them, in order, from the mailbox's database to the account's.
///
/// A step stores some items together with the number of the last one. From then on they are in the account's database, independent of
/// the mailbox. They are removed from the mailbox once no power failure can undo the step.
package struct MailboxImporter {
    package let runner: StepRunner
    package let store: MailboxQueue

    package init(runner: StepRunner, store: MailboxQueue) {
        self.runner = runner
        self.store = store
    }

    /// The number of items in a step.
    private static let batchSize = 100

    /// The last imported item.
    package static func place(in database: Database) throws -> MailboxQueue.Progress? {
        try database.statement("SELECT mailbox, last FROM shared").first {
            MailboxQueue.Progress(mailbox: $0.text("mailbox"), last: $0.integer("last"))
        }
    }

    private var last: Int64 { get throws { try store.last(try Self.place(in: runner.database)) } }

    /// Whether there are items to import.
    package var hasItems: Bool { get throws { try store.hasParcels(after: last) } }

    /// Imports all items.
    /// - Parameter committed: receives the effects of each step, and the account.
    /// - Throws: `StoreError`, `FenceError.stale`; the remaining items are kept in the mailbox.
    package func run(_ committed: (Account, Step.Effects) -> Void) throws {
        try removeImported(through: try importAll(committed))
    }

    /// - Returns: the number of the last imported item.
    package func importAll(_ committed: (Account, Step.Effects) -> Void) throws -> Int64 {
        var last = try last
        while true {
            let parcels = try store.parcels(after: last, limit: Self.batchSize)
            guard let first = parcels.first else { return last }
            let portion = Array(parcels.prefix { $0.sender.exact == first.sender.exact })
            last = portion.last?.id ?? last
            try importItems(portion, committed)
        }
    }

    private func removeImported(through last: Int64) throws {
        // Imported items remain there if a process ended before this point.
        guard try store.hasParcels(through: last) else { return }
        try runner.raiseBarrier()
        try store.remove(through: last)
    }

    /// - Parameter portion: items of one account.
    private func importItems(_ portion: [QueuedItem], _ committed: (Account, Step.Effects) -> Void) throws {
        guard let last = portion.last else { return }
        let place = MailboxQueue.Progress(mailbox: try store.name(), last: last.id)
        let account = try AccountTable(runner.database).all().first { $0.jid.description.exact == last.sender.exact }
        guard let account else {
            // The account was removed, together with all its unsent messages.
            return try runner.write { try Self.write(place, in: $0) }
        }
        let effects = try runner.run("share", for: account) { step in
            for parcel in portion { try importItem(parcel, in: step) }
            try Self.write(place, in: step.database)
            step.flush()
        }
        committed(account, effects)
    }

    private func importItem(_ parcel: QueuedItem, in step: Step) throws {
        do {
            try reading(parcel, in: step)()
        } catch let error as SharedError {
            try bury(parcel, "\(error)", in: step)
        }
    }

    /// Decodes `parcel`.
    /// - Returns: the work of the item.
    private func reading(_ parcel: QueuedItem, in step: Step) throws(SharedError) -> () throws -> Void {
        do {
            guard parcel.name == SharedMessage.name else {
                let (id, intent) = try parcel.intent(among: step.features.intents)
                return { _ = try Intents(step: step).perform(intent, id: id) }
            }
            let text = try SharedMessage(parcel).text
            return {
                // The progress shows that the item is new. The id shows the same after the restore of an old database.
                guard try Message.accepted(text.id, by: step.account, in: step.database) == nil else { return }
                try text.enqueue(in: step, sentAt: parcel.at)
            }
        } catch let error as SharedError {
            throw error
        } catch {
            throw .unreadable("\(error)")
        }
    }

    private func bury(_ parcel: QueuedItem, _ reason: String, in step: Step) throws {
        try DeadLetters(step: step).bury(parcel.payload, named: parcel.name, because: reason, from: .share)
    }

    private static func write(_ place: MailboxQueue.Progress, in database: Database) throws {
        try database.run(
            "INSERT OR REPLACE INTO shared VALUES (1, ?, ?)", [.text(place.mailbox), .integer(place.last)])
    }
}
