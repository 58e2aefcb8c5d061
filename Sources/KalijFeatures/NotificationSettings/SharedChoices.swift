import KalijAddress
import KalijCore
import KalijStore
import KalijXML

/// The choices that the account's devices share, in steps.
struct SharedChoices {
    let step: Step
    private var account: Value { .integer(step.account.id) }
    private var settings: StoredSettings { StoredSettings(database: step.database, account: step.account.id) }
    private var notify: NotifyElement { NotifyElement(identity: step.features.capabilities.info.identities.first) }

    /// The user has made a choice for `conversation`. The bookmark of a room is written after the list was read.
    func chose(_ conversation: String) throws {
        try update(conversation) { $0.state = .changed }
        if try isHere(.received(conversation)) { try Bookmarks(step: step).requestList() }
    }

    private func isHere(_ room: JID) throws -> Bool {
        try RoomRows(database: step.database, account: step.account.id).isRoom(room)
    }

    /// Adopts the choice of another device for a room of the account.
    /// - Returns: whether the bookmark is to be written.
    func read(_ room: JID, _ extensions: [Element]?) throws -> Bool {
        let conversation = room.description
        guard let extensions else {
            try update(conversation) { $0.readNothing() }
            return false
        }
        let (now, own) = (notify.choice(in: extensions), try settings.choice(for: conversation))
        // Whatever number of rooms the list names, settings are stored for rooms that are here.
        guard try own != nil || isHere(room) else { return false }
        let action = try update(conversation) { $0.read(now, own: own) }
        guard action == .adopt else { return action == .write }
        try settings.replaceChoice(by: now, for: conversation)
        step.emit(SettingsChanged(conversation: conversation, hasChoice: false))
        return false
    }

    /// Sets the own choice in a bookmark that is being written.
    func write(_ room: JID, _ extensions: inout [Element]) throws {
        let conversation = room.description
        guard let own = try settings.choice(for: conversation), own != notify.choice(in: extensions) else { return }
        notify.set(own, in: &extensions)
        try update(conversation) { $0.state = .sent }
    }

    /// The server has the choice, unless the user has made another one meanwhile.
    func acknowledged(_ room: JID) throws {
        try update(room.description) { if $0.state == .sent { $0.state = .acknowledged } }
    }

    // MARK: Rows

    @discardableResult
    private func update<Result>(_ conversation: String, _ body: (inout ChoiceMerge) -> Result) throws -> Result {
        let before = try load(conversation)
        var merge = before
        let result = body(&merge)
        if merge != before { try save(merge, conversation) }
        return result
    }

    private func load(_ conversation: String) throws -> ChoiceMerge {
        try step.database.statement(
            "SELECT state, listed FROM notification_setting WHERE account = ? AND conversation = ?"
        ).first([account, .text(conversation)]) { row in
            ChoiceMerge(
                state: ChoiceMerge.State(rawValue: row.text("state")) ?? .settled,
                listed: row.optionalText("listed").flatMap(NotifyChoice.init(setting:)))
        } ?? ChoiceMerge()
    }

    private func save(_ merge: ChoiceMerge, _ conversation: String) throws {
        guard merge != ChoiceMerge() else {
            return try step.database.run(
                "DELETE FROM notification_setting WHERE account = ? AND conversation = ?",
                [account, .text(conversation)])
        }
        try step.database.run(
            """
            INSERT INTO notification_setting(account, conversation, state, listed) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (account, conversation) DO UPDATE SET state = ?3, listed = ?4
            """, [account, .text(conversation), .state(merge.state), .optional(merge.listed?.setting)])
    }
}
