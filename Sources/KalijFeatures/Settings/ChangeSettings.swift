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
    /// Whether the conversation precedes those that are not pinned.
    public var pinned: Bool?
    /// Whether the list of conversations omits the conversation until its next message or draft.
    public var hidden: Bool?

    /// - Parameter conversation: the conversation; nil for all conversations without a setting of their own.
    public init(for conversation: JID? = nil) { self.conversation = conversation?.description }

    /// Sets ``notify`` to the word of a choice, or to the time until which there is silence.
    public mutating func setNotify(_ choice: NotifyChoice) {
        notify =
            switch choice {
            case .all: "all"
            case .mentions: "mentions"
            case .none: "none"
            case .mutedUntil(let time): DateTime.text(Date(timeIntervalSince1970: Double(time) / 1000))
            }
    }

    public func check() throws {
        let jid = try conversation.map { try JID($0) }
        _ = try choice
        guard jid != nil || (pinned == nil && hidden == nil) else {
            throw IntentFailure("pinned and hidden are settings of one conversation")
        }
    }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        let rooms = RoomRows(database: step.database, account: step.account.id)
        let name = try conversation.map { try rooms.conversation(with: JID($0)) }
        let choice = try choice
        let settings = StoredSettings(database: step.database, account: step.account.id)
        for (disclosure, isOn) in [(OnlineDisclosure.receipts, receipts), (.markers, markers), (.typing, typing)] {
            if let isOn { try settings.set(disclosure, isOn, for: name) }
        }
        if let choice { try settings.set(choice, for: name) }
        if let preview { try settings.set(preview: preview, for: name) }
        if let downloads { try settings.set(downloads: downloads, for: name) }
        if let name { try place(name, settings) }
        let hasChoice =
            switch choice {
            case nil, .mutedUntil?: false
            case .all?, .mentions?, NotifyChoice.none?: true
            }
        step.emit(SettingsChanged(conversation: name, hasChoice: hasChoice))
        return .done
    }

    private func place(_ conversation: String, _ settings: StoredSettings) throws {
        if let pinned { try settings.setPinned(pinned, conversation) }
        switch hidden {
        case true?: try settings.hide(conversation)
        case false?: try settings.unhide(conversation)
        case nil: break
        }
    }

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
