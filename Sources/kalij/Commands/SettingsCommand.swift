import KalijAddress
import KalijClient
import KalijText

enum SettingsCommand: Command {
    static let name = "settings"
    static let usage =
        """
        [JID] [receipts=on|off] [markers=on|off] [typing=on|off] [notify=all|mentions|none|TIME] [preview=on|off] \
        [downloads=on|off] [pinned=on|off] [hidden=on|off]
        """
    static let summary = "change what others are told, what notifies, and what is listed"
    static let details = """
        Changes settings for the conversation with JID, or without JID for all conversations without a setting of their own; then
        prints the settings. Settings stay in this directory, except `notify` of a room, which follows the account (XEP-0492).

          receipts=on|off    tell contacts that their messages have arrived (XEP-0184)
          markers=on|off     tell contacts, and groups of at most 100 members, what you have read (XEP-0333)
          typing=on|off      tell contacts that you are writing (XEP-0085)
          notify=all         all messages notify
                 mentions    in rooms only those that mention you
                 none        none
                 TIME        none until TIME, such as 2026-11-21T18:00:00Z; a past one ends that
          preview=on|off     say in notifications who has written, and what
          downloads=on|off   fetch files of at most 1 MiB unasked, from people whom you have written to

        With JID alone:
          pinned=on|off      list the conversation before those that are not pinned
          hidden=on|off      do not list the conversation until its next message or draft

        With --json a line with these keys, and `muted_until`.

        examples:
          kalij settings markers=off
          kalij settings romeo@example.net notify=none pinned=on
        """
    static let options: [Arguments.Option] = [
        .value("--account", "JID", "change this account's settings, if several are stored")
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...20)
        var words = arguments.operands[...]
        let jid = try words.first.flatMap { $0.contains("=") ? nil : try JID($0) }
        if jid != nil { words.removeFirst() }
        let account = try arguments.value("--account").map { try JID($0) }
        var change = ChangeSettings(for: jid)
        for word in words { try set(word, in: &change) }
        if !words.isEmpty {
            let status = try IntentRunner(arguments, shared).run(change, waiting: true, isTold: false)
            guard status == .done else { return status }
        }
        let conversations = try Conversations(shared.directory, of: account)
        let record = SettingsRecord(
            try conversations.settings(for: jid), try jid.map { try conversations.conversation(with: $0).placement })
        Output.line(shared.json ? try JSONLine.of(record) : record.line)
        return .done
    }

    private static func set(_ word: String, in change: inout ChangeSettings) throws {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { throw Failure(.usage, "\"\(word)\" is no setting: NAME=VALUE") }
        switch parts[0] {
        case "receipts": change.receipts = try isOn(parts[1])
        case "markers": change.markers = try isOn(parts[1])
        case "typing": change.typing = try isOn(parts[1])
        case "notify": change.notify = parts[1]
        case "preview": change.preview = try isOn(parts[1])
        case "downloads": change.downloads = try isOn(parts[1])
        case "pinned": change.pinned = try isOn(parts[1])
        case "hidden": change.hidden = try isOn(parts[1])
        default: throw Failure(.usage, "there is no setting \"\(parts[0])\"")
        }
    }

    private static func isOn(_ text: String) throws -> Bool {
        switch text {
        case "on": true
        case "off": false
        default: throw Failure(.usage, "\"\(text)\" is neither on nor off")
        }
    }
}

/// The settings in JSON, or as a line.
private struct SettingsRecord: Encodable {
    private let receipts: Bool
    private let markers: Bool
    private let typing: Bool
    private let notify: String
    private let preview: Bool
    private let downloads: Bool
    private let mutedUntil: String?
    private let pinned: Bool?
    private let hidden: Bool?

    private enum CodingKeys: String, CodingKey {
        case receipts, markers, typing, notify, preview, downloads, pinned, hidden
        case mutedUntil = "muted_until"
    }

    init(_ settings: ChatSettings, _ placement: ListPlacement?) {
        receipts = !settings.off.contains(.receipts)
        markers = !settings.off.contains(.markers)
        typing = !settings.off.contains(.typing)
        notify = settings.notify.name
        preview = settings.preview
        downloads = settings.downloads
        mutedUntil = settings.mutedUntil.map { Stamp.of($0) }
        (pinned, hidden) = (placement?.isPinned, placement?.isHidden)
    }

    var line: PrintedText {
        func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }
        let muted: PrintedText = mutedUntil.map { " (none until \($0))" } ?? ""
        let listed: PrintedText = pinned.map { " pinned=\(word($0)) hidden=\(word(hidden ?? false))" } ?? ""
        return """
            receipts=\(word(receipts)) markers=\(word(markers)) typing=\(word(typing)) notify=\(notify)\(muted) \
            preview=\(word(preview)) downloads=\(word(downloads))\(listed)
            """
    }
}
