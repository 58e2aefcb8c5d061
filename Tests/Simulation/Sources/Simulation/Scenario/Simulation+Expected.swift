extension Simulation {
    /// The texts of the messages that the history is to show, in their order: the archive's, or else that of their arrival.
    var expected: [String] {
        let messages = server.archive.messages
        guard !plan.profile.hasArchive else { return messages.map(\.body) }
        return messages.filter { !$0.from.hasPrefix(server.account) }.map(\.body)
    }
}
