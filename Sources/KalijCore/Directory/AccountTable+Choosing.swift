import KalijAddress

extension AccountTable {
    /// The account with the bare address `jid`, or the only account if `jid` is nil.
    /// - Throws: `DirectoryError.whichAccount`
    public func account(_ jid: JID?, in directory: AccountDirectory) throws -> Account {
        let all = try all()
        if let jid {
            if let account = all.first(where: { $0.jid == jid.bare }) { return account }
        } else if all.count == 1, let account = all.first {
            return account
        }
        if all.isEmpty { throw DirectoryError.noAccount(directory: directory.path) }
        throw DirectoryError.whichAccount(known: all.map(\.jid.description), asked: jid?.description)
    }
}
