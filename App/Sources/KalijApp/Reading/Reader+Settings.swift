import Glibc
import KalijClient

extension Reader {
    /// The settings of all accounts; their connections are not read.
    public func settings() throws -> SettingsPage {
        let contacts = Contacts(try database())
        let settings = try accounts().map { account in
            let profile = try contacts.profile(of: account.jid, for: account)
            let chosen = try conversations(account).settings(for: nil)
            var settings = AccountSettings(
                account: account.jid.description, name: (profile?.nick ?? "").shownNick,
                picture: profile?.avatarFile, on: SettingSwitch.on(in: chosen), notify: NotifyLevel(chosen.notify))
            let files = try Attachments(directory, of: account.jid).stored()
            (settings.files, settings.fileSize) = (Int(files.count), files.bytes)
            return settings
        }
        return SettingsPage(
            accounts: settings, appearance: Appearance.load(in: directory.path) ?? .desktop,
            databaseSize: Self.size(directory.path + "/kalij.db") + Self.size(directory.path + "/kalij.db-wal"))
    }

    private static func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}

extension String {
    /// A name for display; empty for an empty one.
    fileprivate var shownNick: String { isEmpty ? "" : shownName }
}
