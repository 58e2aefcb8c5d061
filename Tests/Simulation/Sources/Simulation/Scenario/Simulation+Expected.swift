extension Simulation {
    /// The texts of the messages that the history is to show, in their order: the archive's, or else that of their arrival.
    var expected: [String] {
        let messages = server.archive.messages
        // What was sent by the account and is not kept is expected where it was accepted.
        guard !plan.profile.hasArchive else {
            return messages.filter { $0.isKept || !$0.from.hasPrefix(server.account) }.compactMap(\.body)
        }
        return messages.filter { !$0.from.hasPrefix(server.account) }.compactMap(\.body)
    }
}
