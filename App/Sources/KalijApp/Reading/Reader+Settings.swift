import KalijClient

extension Reader {
    /// The settings of all accounts; their connections are not read.
    public func settings() throws -> SettingsPage {
        let contacts = Contacts(try database())
        return SettingsPage(
            accounts: try accounts().map { account in
                let profile = try contacts.profile(of: account.jid, for: account)
                return AccountSettings(
                    account: account.jid.description, name: (profile?.nick ?? "").shownNick,
                    picture: profile?.avatarFile,
                    on: SettingSwitch.on(in: try conversations(account).settings(for: nil)))
            })
    }
}

extension String {
    /// A name for display; empty for an empty one.
    fileprivate var shownNick: String { isEmpty ? "" : shownName }
}
