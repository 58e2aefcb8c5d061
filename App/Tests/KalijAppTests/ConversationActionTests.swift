import KalijAddress
import KalijClient
import Testing

@testable import KalijApp

@Suite struct ConversationActionTests {
    private func row(_ name: String, at: Int64 = 1) -> ConversationRow {
        var row = ConversationRow(key: ConversationKey(account: "romeo@x", jid: name.lowercased() + "@x"), name: name)
        row.at = at
        return row
    }

    @Test func `Pinned conversations come first, and only a search shows hidden ones`() {
        var (pinned, hidden) = (row("Nurse", at: 1), row("Paris", at: 9))
        pinned.isPinned = true
        hidden.isHidden = true
        var list = ConversationList()
        list.read([row("Juliet", at: 5), pinned, hidden])
        #expect(list.shown.map(\.name) == ["Nurse", "Juliet"])
        #expect(list.neighbour(of: pinned.key, step: 1)?.name == "Juliet")
        list.search = "pari"
        #expect(list.shown.map(\.name) == ["Paris"])
        list.search = ""
        hidden.isHidden = false
        list.read([hidden])
        #expect(list.shown.map(\.name) == ["Nurse", "Paris", "Juliet"])
    }

    @Test func `Heads have the places of conversations whose content was read before`() {
        var list = ConversationList()
        list.read([row("Juliet", at: 5), row("Nurse", at: 1)])
        var (pinned, hidden) = (row("Nurse", at: 1), row("Juliet", at: 5))
        (pinned.isPinned, hidden.isHidden) = (true, true)
        list.read(heads: [pinned, hidden])
        #expect(list.shown.map(\.name) == ["Nurse"])
    }

    @Test func `What is pinned, hidden or muted is part of the spoken name`() {
        var row = row("Nurse")
        (row.isPinned, row.isHidden, row.mutedUntil) = (true, true, 7)
        #expect(row.spoken("") == "Nurse, muted, pinned, hidden")
    }

    @Test func `The menu has what changes something`() {
        var row = row("Nurse")
        #expect(row.actions == [[], [.pin, .hide], [.mute(hours: 1), .mute(hours: 8), .muteAlways]])
        (row.unread, row.isPinned, row.isHidden, row.mutedUntil) = (1, true, true, 7)
        #expect(row.actions == [[.markRead], [.unpin, .unhide], [.unmute, .muteAlways]])
        (row.unread, row.mutedUntil, row.notify, row.isGroup) = (0, nil, .none, true)
        #expect(row.actions == [[], [.unpin, .unhide], [.mentionsOnly, .notifyAlways]])
        row.notify = .mentions
        #expect(row.actions.last == [.mute(hours: 1), .mute(hours: 8), .muteAlways, .notifyAlways])
        row.notify = .all
        #expect(row.actions.last == [.mute(hours: 1), .mute(hours: 8), .mentionsOnly, .muteAlways])
    }

    @Test func `A choice of notifications says until when, and so does what changes it`() {
        var row = row("Nurse")
        let clock = { (at: Int64) in "\(at / 3_600_000):00" }
        #expect(row.notifications.words(clock) == "All messages")
        row.mutedUntil = 14 * 3_600_000
        #expect(row.notifications.words(clock) == "Muted until 14:00")
        row.notify = .mentions
        #expect(row.notifications.words(clock) == "Muted until 14:00")
        row.mutedUntil = nil
        #expect(row.notifications.words(clock) == "Mentions only")
        // Hours within a mute for good end in nothing.
        (row.notify, row.mutedUntil) = (.none, 7)
        #expect(row.notifications.words(clock) == "Muted")
        #expect(ConversationAction.mute(hours: 8).outcome(now: 6 * 3_600_000, clock) == "Muted until 14:00")
        #expect(ConversationAction.notifyAlways.outcome(now: 0, clock) == "Notifications: All messages")
        #expect(ConversationAction.pin.outcome(now: 0, clock) == nil)
    }

    @Test func `An action is a change of the conversation's settings`() throws {
        let (jid, noon) = (try JID("nurse@x"), Int64(1_795_867_200_000))
        func notify(_ action: ConversationAction) -> String? { action.change(of: jid, now: noon)?.notify }
        #expect(notify(.mute(hours: 8)) == "2026-11-28T20:00:00Z")
        #expect(notify(.unmute) == "1970-01-01T00:00:00Z")
        #expect(notify(.muteAlways) == "none" && notify(.mentionsOnly) == "mentions" && notify(.notifyAlways) == "all")
        #expect(ConversationAction.hide.change(of: jid, now: noon)?.hidden == true)
        #expect(ConversationAction.unpin.change(of: jid, now: noon)?.pinned == false)
        #expect(ConversationAction.markRead.change(of: jid, now: noon) == nil)
    }
}
