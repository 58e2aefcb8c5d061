import KalijAddress
import KalijClient

extension Reader {
    /// The full draft of a conversation; empty once the message or the file that ends it is accepted.
    public func draft(_ key: ConversationKey) throws -> StoredDraft { try unsent(key).draft }

    /// The full draft of a conversation, and the correction in progress there; nil if there is none.
    public func unsent(_ key: ConversationKey) throws -> (draft: StoredDraft, correction: StoredDraft?) {
        guard let account = try account(of: key) else { return (StoredDraft(), nil) }
        let texts = try conversations(account).unsentTexts(for: .received(key.jid), mailbox: directory)
        return (try draft(texts.draft, of: account, key), try correction(texts.correction, key))
    }

    private func draft(_ draft: Draft?, of account: Account, _ key: ConversationKey) throws -> StoredDraft {
        guard let draft else { return StoredDraft() }
        let conversations = try conversations(account)
        guard let answered = try draft.answered.flatMap({ try conversations.message($0) }) else {
            return StoredDraft(draft.body)
        }
        let name = try conversations.name(of: .received(key.jid)) ?? key.jid
        return StoredDraft(
            draft.body,
            .reply(
                to: MessageRow(
                    answered, name: name.shownName, account: key.account, people: try people(of: account))))
    }

    private func correction(_ draft: CorrectionDraft?, _ key: ConversationKey) throws -> StoredDraft? {
        guard let draft, let body = try body(of: draft.message, in: key) else { return nil }
        return StoredDraft(draft.body, .correction(of: draft.message, text: body))
    }
}
