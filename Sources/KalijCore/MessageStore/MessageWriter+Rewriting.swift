import KalijStore

/// Changes to the shown content of stored messages.
extension MessageWriter {
    /// Sets the text, the time of the correction and the erasure of the message in `row`. A message whose erasure is `forgotten` is
    /// hidden.
    package func rewrite(_ row: Int64, body: String?, editedAt: Int64?, erasure: Erasure?) throws {
        if erasure != nil { try invalidateUnread(row) } else { step.transaction.unreadCounts.forget() }
        try changingText(of: row, to: body, isErased: erasure != nil) {
            try database.run(
                "UPDATE message SET body = ?, edited_at = ?, erased = ?, shown = (shown AND ? IS NOT ?) WHERE id = ?",
                [
                    .optional(body), .optional(editedAt), .optional(erasure?.rawValue),
                    .optional(erasure?.rawValue), .state(Erasure.forgotten), .integer(row),
                ])
        }
    }

    /// Shows the message in `row` in its conversation with the text `body`; hides it if `body` is nil.
    /// - Parameter corrects: the id of the message that this one corrects, if that message is not stored.
    package func show(_ row: Int64, body: String?, corrects: String?) throws {
        try invalidateUnread(row)
        step.transaction.forgetChatPartners()
        try changingText(of: row, to: body) {
            try database.run(
                "UPDATE message SET shown = ?, body = ?, corrects = ? WHERE id = ?",
                [.integer(body == nil ? 0 : 1), .optional(body), .optional(corrects), .integer(row)])
        }
    }

    /// Sets the text of the message in `row`, which was decrypted after it was stored.
    package func mend(_ row: Int64, body: String?, _ encryption: MessageEncryption) throws {
        try changingText(of: row, to: body) {
            try database.run(
                "UPDATE message SET body = ?, encryption = ? WHERE id = ?",
                [.optional(body), .text(encryption.stored), .integer(row)])
        }
    }

    /// Sets the encryption of the message in `row`; nil for none.
    package func set(_ encryption: MessageEncryption?, of row: Int64) throws {
        try database.run(
            "UPDATE message SET encryption = ? WHERE id = ?", [.optional(encryption?.stored), .integer(row)])
    }

    private func invalidateUnread(_ row: Int64) throws {
        guard let (_, conversation) = try MessageReader(database: database, account: step.account.id).names(of: row)
        else { return }
        step.unreadMayDiffer(in: conversation)
    }

    /// Removes the message in `row`, if it is hidden and was not accepted here.
    package func removeHidden(_ row: Int64) throws {
        let old = try text(of: row)
        try database.run(
            "DELETE FROM message WHERE id = ? AND shown = 0 AND received_at IS NOT NULL", [.integer(row)])
        if database.changes > 0 { try notifyObservers(row, old, nil) }
    }

    /// Runs `body`, and notifies observers if it has changed the text.
    /// - Parameter isErased: whether the message was erased: observers are notified even if it had no text, because it may have a file
    ///   or a notification.
    private func changingText(
        of row: Int64, to text: String?, isErased: Bool = false, _ body: () throws -> Void
    ) throws {
        let old = try self.text(of: row)
        try body()
        if old != text || isErased { try notifyObservers(row, old, text) }
    }

    private func text(of row: Int64) throws -> String? {
        try database.statement("SELECT body FROM message WHERE id = ?").first([.integer(row)]) { $0.optionalText() }
            ?? nil
    }

    private func notifyObservers(_ row: Int64, _ old: String?, _ text: String?) throws {
        step.textChanged()
        for observer in step.hooks.storedMessageObservers {
            try observer.didChangeBody(of: row, from: old, to: text, in: step)
        }
    }
}
