import KalijAddress
import KalijCore
import KalijXML

import FoundationEssentials

/// Changes what is disclosed to others, and which messages cause notifications. Values that are nil are not changed.
public struct ChangeSettings: Intent {
    public static let name = "settings"
    /// The conversation; nil for all conversations without a setting of their own.
    public var conversation: String?
    /// Whether receipts are sent (XEP-0184).
    public var receipts: Bool?
    /// Whether markers are sent (XEP-0333).
    public var markers: Bool?
    /// Whether it is disclosed that the user is writing (XEP-0085).
    public var typing: Bool?
    /// The messages that cause notifications: `all`, `mentions`, `none`, or a time until which none does (XEP-0082).
    public var notify: String?
    /// Whether notifications contain the sender and the text.
    public var preview: Bool?
    /// Whether small files of people whom the user has written to are downloaded automatically.
    public var downloads: Bool?

    /// - Parameter conversation: the conversation; nil for all conversations without a setting of their own.
    public init(for conversation: JID? = nil) { self.conversation = conversation?.bare.description }

    public func check() throws {
        _ = try bare
        _ = try choice
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        let (bare, choice) = (try bare, try choice)
        let settings = StoredSettings(database: step.database, account: step.account.id)
        for (disclosure, isOn) in [(OnlineDisclosure.receipts, receipts), (.markers, markers), (.typing, typing)] {
            if let isOn { try settings.set(disclosure, isOn, for: bare) }
        }
        if let choice { try settings.set(choice, for: bare) }
        if let preview { try settings.set(preview: preview, for: bare) }
        if let downloads { try settings.set(downloads: downloads, for: bare) }
        let hasChoice =
            switch choice {
            case nil, .mutedUntil?: false
            case .all?, .mentions?, NotifyChoice.none?: true
            }
        step.emit(SettingsChanged(conversation: bare, hasChoice: hasChoice))
        return .done
    }

    private var bare: String? { get throws { try conversation.map { try JID($0).bare.description } } }

    private var choice: NotifyChoice? {
        get throws {
            switch notify {
            case nil: return nil
            case "all"?: return .all
            case "mentions"?: return .mentions
            case "none"?: return NotifyChoice.none
            case let text?:
                guard let date = DateTime.date(text),
                    let time = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded())
                else { throw IntentFailure("notify is all, mentions, none, or a time such as 2026-11-21T18:00:00Z") }
                return .mutedUntil(time)
            }
        }
    }
}
