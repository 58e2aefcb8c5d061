import CAdwaita
import KalijApp

/// Replies and corrections.
extension Composer {
    /// The text from now on is a message, a reply, or a correction.
    func compose(_ composing: Composing) {
        self.composing = composing
        bar.show(composing.words)
        showName()
    }

    /// Replies to a message; a correction in progress ends.
    func reply(to message: MessageRow) {
        cancel()
        compose(.reply(to: message))
        keep()
        text.focus()
    }

    /// Displays the text of a message for correction, in place of the draft.
    func correct(_ id: Int64, _ body: String) {
        if composing.isCorrection { onDraft(StoredDraft("", composing)) } else { keep() }
        compose(.correction(of: id, text: body))
        fill(body)
        text.focus()
    }

    /// The conversation was read again: updates the line above the text.
    func follow(_ page: Page) {
        let now = composing.updated(from: page)
        if now != composing { compose(now) }
    }

    /// Ends a reply, or a correction.
    /// - Returns: whether there was one.
    @discardableResult
    func cancel() -> Bool {
        let before = composing
        guard before != .message else { return false }
        compose(.message)
        if before.isCorrection {
            onDraft(StoredDraft("", before))
            Announcer.say(Words.correctionEnded)
            fill("")
            onCorrectionEnded()
        } else {
            keep()
        }
        text.focus()
        return true
    }

    /// Handles Escape, and Up in an empty field.
    /// - Returns: whether the key has a meaning here.
    func handled(_ key: UInt32, _ modifiers: Int32) -> Bool {
        let held = modifiers & Int32(gtk_accelerator_get_default_mod_mask().rawValue)
        switch key {
        case UInt32(GDK_KEY_Escape): return cancel()
        case UInt32(GDK_KEY_Up) where written.isEmpty && held == 0 && composing == .message:
            onCorrectLast()
            return true
        default: return false
        }
    }
}
