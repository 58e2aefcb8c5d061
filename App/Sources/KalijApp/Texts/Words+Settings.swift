/// Texts of the settings.
extension Words {
    public static var settings: String { tr("Settings") }
    public static var changeOwnName: String { tr("Change your name …") }
    public static var ownName: String { tr("Your name") }
    public static var changeOwnPicture: String { tr("Change your picture …") }
    public static var ownPicture: String { tr("Your picture") }
    public static var removeOwnPicture: String { tr("Remove your picture") }
    static var ownNameChanged: String { tr("Others now see your new name") }
    static var ownPictureChanged: String { tr("Others now see your new picture") }
    static var ownPictureRemoved: String { tr("Others no longer see a picture") }
    public static var changePassword: String { tr("Change the password …") }
    public static var logOut: String { tr("Log out …") }
    public static var deleteAccount: String { tr("Delete the account …") }
    public static var noOwnName: String { tr("No name: others see your address") }
    public static func accountMade(_ account: String) -> String {
        tr("Your account {address} is ready", ["address": account])
    }

    // What others are shown, and what happens here
    public static var showsTyping: String { tr("Show others when you are writing") }
    public static var showsReading: String {
        tr("Show others which messages you have read, in closed groups of up to 100 members too")
    }
    public static var showsReceiving: String { tr("Show others which messages have arrived") }
    public static var notifiesWithText: String { tr("Notifications show name and text") }
    public static var downloadsItself: String { tr("Download small files of people you have written to") }

    // Notifications, appearance and storage
    static var privacy: String { tr("Privacy") }
    static var notificationsHeading: String { tr("Notifications") }
    static var files: String { tr("Files") }
    public static var notifies: String { tr("Notify me of") }
    static var notifiesAll: String { tr("All messages") }
    static var notifiesMentions: String { tr("People, and mentions in groups") }
    static var notifiesNone: String { tr("Nothing") }
    public static var notifiesHint: String { tr("A conversation can have its own choice") }
    public static var appearance: String { tr("Appearance") }
    static var asDesktop: String { tr("As the desktop") }
    static var light: String { tr("Light") }
    static var dark: String { tr("Dark") }
    public static var textSizeHint: String {
        tr("Text has the size, and the contrast, that you have set for the desktop")
    }
    public static var storage: String { tr("Storage") }
    static func databaseSize(_ size: String) -> String {
        tr("Messages of all accounts: {size}", ["size": size])
    }
    static var noFiles: String { tr("No received files on this computer") }
    static func storedFiles(_ count: Int, _ size: String) -> String {
        filled(tr("{n} received file: {size}", "{n} received files: {size}", count), ["size": size])
    }
    static var clearFiles: String { tr("Remove received files …") }
    public static func clearQuestion(_ account: String) -> String {
        tr("Remove the received files of {address}?", ["address": account])
    }
    public static var clearHint: String {
        tr("The messages stay. A file can be downloaded again only while its server keeps it.")
    }

    // Export
    static var export: String { tr("Export …") }
    public static func exporting(_ account: String) -> String { tr("Export {address}", ["address": account]) }
    public static var exportHint: String {
        tr("Contacts, groups and messages as lines of JSON. Whoever has the file can read the messages.")
    }
    /// - Parameter path: the file, with its folder.
    public static func exported(_ count: Int, _ path: String) -> String {
        filled(tr("{n} message exported to {name}", "{n} messages exported to {name}", count), ["name": path])
    }
    public static func exportFailed(_ reason: String) -> String {
        tr("Nothing was exported: {reason}", ["reason": reason])
    }
    public static var exportCancelled: String { tr("The export was cancelled") }

    // Passwords
    public static var passwordChanged: String { tr("The password is changed") }
    public static func passwordRefused(_ reason: String) -> String {
        tr("The server does not accept the new password: {reason}", ["reason": reason])
    }
    public static var passwordUnknown: String {
        tr("The server has not answered. Both passwords are kept until it shows which one is valid")
    }
    public static func changeFailed(_ reason: String) -> String {
        tr("Nothing was changed: {reason}", ["reason": reason])
    }

    // The end of an account
    public static func logOutQuestion(_ account: String) -> String {
        tr("Log out {address} here?", ["address": account])
    }
    public static var logOutHint: String {
        tr("The account stays at its server. Messages that are deleted here may exist there and on your other devices.")
    }
    public static var logOutKeeping: String { tr("Log out, keep the messages") }
    public static var logOutRemoving: String { tr("Log out, delete the messages here") }
    public static func loggedOut(_ account: String) -> String { tr("{address} is logged out", ["address": account]) }
    public static var loggingOutLater: String { tr("The account is logged out as soon as possible") }
    public static func deleteQuestion(_ account: String) -> String {
        tr("Delete the account {address}?", ["address": account])
    }
    private static var deleteHint: String {
        tr(
            "The server deletes the account, its contacts and its messages, and they are deleted here, for good. Others keep what you sent them."
        )
    }
    /// - Parameter groups: the names of the groups that nobody else owns.
    public static func deleteHint(_ groups: [String]) -> String {
        guard !groups.isEmpty else { return deleteHint + "\n\n" + exportBefore }
        let owned = tr(
            "Nobody else can manage these groups afterwards, unless you make somebody an owner first, among the members of the group: {groups}",
            ["groups": groups.joined(separator: ", ")])
        return [deleteHint, owned, exportBefore].joined(separator: "\n\n")
    }
    private static var exportBefore: String {
        tr("With “Export” you can keep your contacts and messages in a file before.")
    }
    public static var deleteForever: String { tr("Delete for good") }
    public static func accountDeleted(_ account: String) -> String {
        tr("The account {address} is deleted, at its server and here", ["address": account])
    }
    public static func deletionRefused(_ reason: String) -> String {
        tr("The server does not delete the account: {reason}", ["reason": reason])
    }
    public static var deletionUnknown: String {
        tr("The server has not answered. The next connection shows whether the account is deleted")
    }
}
