import KalijAddress
import KalijCore

/// Determines which contacts receipts, markers and chat states may be sent to: they disclose that the account is online (XEP-0184
/// section 8, XEP-0333 section 7).
struct DisclosurePolicy {
    let step: Step

    /// Whether `disclosure` may be sent to `contact`: if the contact is subscribed to the account's presence, or the account has
    /// written to the contact; not if the user has blocked the contact or disabled the disclosure.
    func verdict(_ disclosure: OnlineDisclosure, to contact: JID) throws -> Subscribers.Verdict {
        let conversation = contact.bare.description
        if try Blocklist(step: step).isBlocked(contact) { return .mayNot }
        guard try !step.settings(with: contact).off.contains(disclosure) else { return .mayNot }
        let messages = MessageReader(database: step.database, account: step.account.id)
        return try messages.hasWritten(to: conversation) ? .may : Subscribers(step: step).subscription(of: contact)
    }
}
