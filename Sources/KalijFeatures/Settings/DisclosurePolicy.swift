import KalijAddress
import KalijSteps

/// Whom receipts, markers and chat states may be sent to: those show that the account is online (XEP-0184 section 8, XEP-0333
/// section 7).
struct DisclosurePolicy {
    let step: Step

    /// Whether `contact` may be told: unless the user has blocked the contact or switched that off, as a subscriber of the
    /// account's presence, or because the account has written to `contact`.
    func verdict(_ disclosure: OnlineDisclosure, to contact: JID) throws -> Subscribers.Verdict {
        let conversation = contact.bare.description
        if try Blocklist(step: step).isBlocked(contact) { return .mayNot }
        guard try !step.settings(for: conversation).off.contains(disclosure) else { return .mayNot }
        let messages = MessageReader(database: step.database, account: step.account.id)
        return try messages.hasWritten(to: conversation) ? .may : Subscribers(step: step).mayKnow(contact)
    }
}
