import KalijClient

/// The settings of all accounts as their screen displays them.
public struct SettingsPage: Sendable, Equatable {
    public var accounts: [AccountSettings]
    public var appearance = Appearance.desktop
    /// The size of the database in bytes.
    public var databaseSize: Int64 = 0

    /// What the messages of all accounts take, in words.
    public var storage: String { Words.databaseSize(Words.bytes(databaseSize)) }
}

/// The settings of an account.
public struct AccountSettings: Sendable, Equatable {
    /// The bare address.
    public let account: String
    /// The user's own name that others are shown; empty for none.
    public let name: String
    public let picture: String?
    /// The connection, in words.
    public var state = ""
    /// The switches that are on.
    public var on: Set<SettingSwitch>
    /// The messages that cause notifications, in conversations without a choice of their own.
    public var notify = NotifyLevel.all
    /// The number of received files that are stored, and their bytes.
    public var files = 0
    public var fileSize: Int64 = 0

    /// What can be done with the account.
    public var actions: [AccountAction] {
        AccountAction.allCases.filter { action in
            switch action {
            case .removePicture: picture != nil
            case .clearFiles: files > 0
            default: true
            }
        }
    }

    /// The actions at `place`.
    public func actions(at place: AccountActionPlace) -> [AccountAction] { actions.filter { $0.place == place } }

    /// What the received files take, in words.
    public var storage: String { files == 0 ? Words.noFiles : Words.storedFiles(files, Words.bytes(fileSize)) }
}

/// The messages of an account that cause notifications.
public enum NotifyLevel: Sendable, CaseIterable {
    case all, mentions, none

    public var words: String {
        switch self {
        case .all: Words.notifiesAll
        case .mentions: Words.notifiesMentions
        case .none: Words.notifiesNone
        }
    }

    init(_ choice: NotifyChoice) {
        switch choice {
        case .all, .mutedUntil: self = .all
        case .mentions: self = .mentions
        case .none: self = .none
        }
    }

    /// The change that makes the choice, for all conversations without a choice of their own.
    public var change: ChangeSettings {
        var change = ChangeSettings()
        switch self {
        case .all: change.setNotify(.all)
        case .mentions: change.setNotify(.mentions)
        case .none: change.setNotify(.none)
        }
        return change
    }
}

/// A part of the settings of an account, with a heading.
public enum SettingSection: Sendable, CaseIterable {
    case privacy, notifications, files

    public var words: String {
        switch self {
        case .privacy: Words.privacy
        case .notifications: Words.notificationsHeading
        case .files: Words.files
        }
    }
}

/// A setting of an account that is on or off.
public enum SettingSwitch: Sendable, CaseIterable {
    case typing, markers, receipts, preview, downloads

    public var words: String {
        switch self {
        case .typing: Words.showsTyping
        case .markers: Words.showsReading
        case .receipts: Words.showsReceiving
        case .preview: Words.notifiesWithText
        case .downloads: Words.downloadsItself
        }
    }

    /// The heading below which the setting is shown.
    public var section: SettingSection {
        switch self {
        case .typing, .markers, .receipts: .privacy
        case .preview: .notifications
        case .downloads: .files
        }
    }

    /// The change that turns the setting on or off, for all conversations without a setting of their own.
    public func change(_ isOn: Bool) -> ChangeSettings {
        var change = ChangeSettings()
        switch self {
        case .typing: change.typing = isOn
        case .markers: change.markers = isOn
        case .receipts: change.receipts = isOn
        case .preview: change.preview = isOn
        case .downloads: change.downloads = isOn
        }
        return change
    }

    static func on(in settings: ChatSettings) -> Set<SettingSwitch> {
        Set(
            allCases.filter { setting in
                switch setting {
                case .typing: !settings.off.contains(.typing)
                case .markers: !settings.off.contains(.markers)
                case .receipts: !settings.off.contains(.receipts)
                case .preview: settings.preview
                case .downloads: settings.downloads
                }
            })
    }
}

/// An action on an account.
public enum AccountAction: Sendable, CaseIterable {
    case rename, changePicture, removePicture, changePassword, clearFiles, export, logOut, delete

    public var words: String {
        switch self {
        case .rename: Words.changeOwnName
        case .changePicture: Words.changeOwnPicture
        case .removePicture: Words.removeOwnPicture
        case .changePassword: Words.changePassword
        case .clearFiles: Words.clearFiles
        case .export: Words.export
        case .logOut: Words.logOut
        case .delete: Words.deleteAccount
        }
    }

    /// The words without the sign of a question that follows.
    public var plain: String { words.withoutEllipsis }

    /// What the action does, in a line below its button; nil if its words say it.
    public var hint: String? { self == .export ? Words.exportHint : nil }

    /// The notice of a change that is done; nil if the change is visible, or has a notice of its own.
    public var notice: String? {
        switch self {
        case .rename: Words.ownNameChanged
        case .changePicture: Words.ownPictureChanged
        case .removePicture: Words.ownPictureRemoved
        case .changePassword, .clearFiles, .export, .logOut, .delete: nil
        }
    }

    public var isDestructive: Bool { self == .delete }

    /// Where the action's button is.
    public var place: AccountActionPlace {
        switch self {
        case .rename, .changePicture, .removePicture: .profile
        case .clearFiles: .files
        case .changePassword, .export, .logOut, .delete: .account
        }
    }
}

/// Where the settings of an account have buttons: below its name, below its received files, and at the end.
public enum AccountActionPlace: Sendable, CaseIterable {
    case profile, files, account
}

extension Words {
    /// The outcome of a change of an account at its server.
    public static func outcome(
        _ outcome: AccountTable.ChangeOutcome, of action: AccountAction, on account: String
    ) -> String {
        switch (outcome, action) {
        case (.done, .changePassword): passwordChanged
        case (.done, _): accountDeleted(account.shownName)
        case (.refused(let reason), .changePassword): passwordRefused(reason.shownLine)
        case (.refused(let reason), _): deletionRefused(reason.shownLine)
        case (.unknown, .changePassword): passwordUnknown
        case (.unknown, _): deletionUnknown
        }
    }

    /// The connection of an account.
    /// - Parameter time: the words for a time.
    public static func connection(_ status: AccountStatus?, time: (Int64) -> String) -> String {
        switch status {
        case .online?: tr("Online")
        case .connecting?: connecting
        case .offline(let since, let why)?:
            why.map { offline(since: time(since), why: $0) } ?? offline(since: time(since))
        case .refused?: tr("The server refuses the password")
        case .noStorage(let problem)?: storage(problem)
        case nil: ""
        }
    }
}
