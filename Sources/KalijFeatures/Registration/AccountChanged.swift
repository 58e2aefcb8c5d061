import KalijCore
import KalijText

/// A change of the account at its server has an outcome: of its password, or its removal.
public struct AccountChanged: EventContent {
    public static let name = "account_changed"
    public static let meaning =
        "The server has changed the password or removed the account, or with `reason` it has not."
    public static let keys: [EventKey] = [.reason]
    /// Why the server has not made the change, in words; nil if it has.
    public let problem: String?
    public var fields: [EventField] { .present(.optional(.reason, problem)) }
    public var changed: DirectoryChange.Part? { .init(.account) }
    public var line: PrintedText? { nil }
    public var isDetail: Bool { true }
}
