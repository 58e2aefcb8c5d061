extension Simulation {
    /// The texts of the messages expected in the history, in the archive's order, or without an archive in the order of arrival.
    var expected: [String] {
        let messages = server.archive.messages
        // A message of the account's that the archive does not keep is judged with the accepted messages (promise 2).
        guard !plan.profile.hasArchive else {
            return messages.filter { $0.isKept || !$0.from.hasPrefix(server.account) }.compactMap(\.body)
        }
        return messages.filter { !$0.from.hasPrefix(server.account) }.compactMap(\.body)
    }
}
