import KalijCoordination

extension MailboxDamage {
    /// A description for the user.
    package var text: String {
        let lost =
            switch lost {
            case nil: "how many messages were left in it cannot be told"
            case 0?: "no message in it is lost"
            case let number?: "\(number) could not be read, and \(number == 1 ? "is" : "are") lost"
            }
        return "the mailbox was damaged (\(reason)) and is now \(path); \(recovered) messages were recovered, \(lost)"
    }
}

extension Step {
    /// Records for `kalij status` that the mailbox was damaged.
    package func record(_ damage: MailboxDamage) throws {
        try DeadLetters(step: self).bury([], named: "mailbox", because: damage.text, from: .share)
    }
}
