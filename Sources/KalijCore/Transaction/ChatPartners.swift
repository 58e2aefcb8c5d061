import KalijText

/// What is stored of the chat states of contacts, as read last by the process that drives.
package final class ChatPartners {
    /// What was read.
    package enum Known: Equatable {
        /// Whether the last message of the contact had a state.
        case stored(Bool)
        /// Nothing is stored, and the account has not written to the contact.
        case stranger
    }

    private struct Key: Hashable {
        let contact: ExactText
        let account: Int64
    }

    private var known: [Key: Known] = [:]
    /// SQLite's number of the last commit of another connection.
    private var version: Int64?
    /// The maximum number of contacts.
    private static let limit = 1000

    package init() {}

    /// What is known of `contact`; nil if it has to be read.
    package subscript(contact: String, of account: Int64) -> Known? {
        get { known[Key(contact: contact.exact, account: account)] }
        set {
            if known.count >= Self.limit { forget() }
            known[Key(contact: contact.exact, account: account)] = newValue
        }
    }

    /// Forgets everything if another connection has committed something since the last call.
    func follow(_ version: Int64?) {
        if version != self.version { forget() }
        self.version = version
    }

    /// Anything may differ: something was undone, or the account has written to somebody.
    package func forget() { known = [:] }
}
