import KalijClient
import Testing

@testable import KalijApp

private func row(
    _ text: String = "Good night", id: Int64 = 1, isOwn: Bool = true, state: DeliveryState? = .sent
) -> MessageRow {
    var row = MessageRow(
        id: id, author: isOwn ? "You" : "Juliet", isOwn: isOwn, text: text, at: 0, state: isOwn ? state : nil)
    row.isReferable = true
    return row
}

@Suite struct MessageActionTests {
    @Test func `An own message can be changed, another's cannot`() {
        #expect(row().actions == [.reply, .react, .correct, .copy, .retract, .forget])
        #expect(row(isOwn: false).actions == [.reply, .react, .copy, .forget])
    }

    @Test func `A message that was not sent is sent again or deleted`() {
        #expect(row(state: .notSent("no such user")).actions == [.resend, .copy, .forget])
        #expect(row(state: .unknown).actions.first == .resend)
        for state in [DeliveryState.waiting(nil), .sending, .sent, .delivered, .read] {
            #expect(!row(state: state).actions.contains(.resend))
        }
    }

    @Test func `What a message has no id for is absent: in a room before the room has shown it`() {
        var unseen = row(state: .sending)
        unseen.isReferable = false
        #expect(unseen.actions == [.correct, .copy, .forget])
    }

    @Test func `A removed message can only be deleted here, and a message in the mailbox only be copied`() {
        var removed = row()
        removed.isNotice = true
        #expect(removed.actions == [.forget])
        #expect(row(id: -1, state: .waiting(.driver)).actions == [.copy])
    }

    @Test func `A file has no text to correct or to copy, and its upload is what is sent again`() {
        var file = row(state: .notSent(nil))
        file.file = FileRow(name: "cat.jpg", kind: .picture, size: 1000, state: .failed("too large", .up))
        #expect(file.actions == [.forget])
    }

    @Test func `Keys are different, and each action with keys is in the table`() {
        let keys = MessageAction.allCases.compactMap(\.keys)
        #expect(Set(keys).count == keys.count && keys.count == MessageAction.allCases.count - 2)
        let table = Words.keys.map(\.keys).joined(separator: ", ")
        for keys in ["Ctrl+R", "Ctrl+.", "Ctrl+E", "Ctrl+C", "Shift+Delete", "Delete, Ctrl+Z"] {
            #expect(table.contains(keys))
        }
        #expect(MessageAction.allCases.filter(\.isDestructive) == [.retract, .forget])
    }

    @Test func `An action on a message that has changed meanwhile is none`() {
        var page = Page()
        page.messages = [row(id: 7, isOwn: false)]
        #expect(page.message(7, for: .reply)?.id == 7)
        #expect(page.message(7, for: .retract) == nil && page.message(8, for: .reply) == nil)
        page.messages[0].isNotice = true
        #expect(page.message(7, for: .reply) == nil && page.message(7, for: .forget)?.id == 7)
    }

    @Test func `A message that is being deleted leaves, and gaps keep their places`() {
        let gap = GapRow(kind: .missing, before: nil, room: nil)
        var page = Page()
        page.messages = (1...4).map { row(id: $0) }
        page.gaps = [1: [gap], 2: [gap], 4: [gap]]
        page.remove(2)
        #expect(page.messages.map(\.id) == [1, 3, 4])
        #expect(page.gaps == [1: [gap, gap], 3: [gap]])
        page.remove(9)
        #expect(page.messages.count == 3)
    }
}

@Suite struct ReactionTests {
    private let me = "romeo@example.org"

    @Test func `An emoji is shown once, with its number, and whether it is also the user's`() {
        let counts = ReactionCount.counts(
            [
                (author: "juliet@example.org", emoji: ["❤", "🌹"]), (author: me, emoji: ["❤"]),
                (author: "nurse@example.org", emoji: ["👍"]),
            ], of: me)
        #expect(counts.map(\.label) == ["❤ 2", "🌹", "👍"])
        #expect(counts.map(\.words) == ["❤ 2, also yours", "🌹", "👍"])
        #expect(ReactionCount("🌹", count: 1, isOwn: true).words == "🌹 yours")
    }

    @Test func `Of too many emoji the user's own stay`() {
        let emoji = (0..<40).compactMap { Unicode.Scalar(0x1F600 + $0).map { String(Character($0)) } }
        let counts = ReactionCount.counts(
            emoji.map { (author: "\($0)@x", emoji: [$0]) } + [(author: me, emoji: emoji.suffix(1))],
            of: me)
        #expect(counts.count == ReactionCount.most && counts.first?.isOwn == true)
    }

    @Test func `An emoji chosen again is removed, and the others stay`() {
        var message = row()
        message.ownReactions = ["❤", "👍"]
        #expect(message.reactions(toggling: "🌹") == ["❤", "👍", "🌹"])
        #expect(message.reactions(toggling: "❤") == ["👍"])
    }

    @Test func `Six reactions come before the chooser, with their names, and none that is the user's already`() {
        var message = row()
        #expect(message.quickReactions.map(\.emoji) == ["👍", "❤️", "😂", "😮", "😢", "🙏"])
        #expect(message.quickReactions.first?.words == "👍  Thumbs up")
        message.ownReactions = ["❤️"]
        #expect(message.quickReactions.map(\.name) == ["Thumbs up", "Laughing", "Surprised", "Sad", "Thank you"])
    }
}

@Suite struct ComposingTests {
    @Test func `A text that is given back precedes what was written since`() {
        #expect(StoredDraft("a").followed(by: "b") == "a\nb")
        #expect(StoredDraft("a").followed(by: "") == "a" && StoredDraft().followed(by: "b") == "b")
    }

    @Test func `The line says what the text is`() {
        #expect(Composing.message.words == nil)
        #expect(Composing.reply(to: row("But soft", isOwn: false)).words == "Reply to Juliet: But soft")
        #expect(Composing.reply(to: row("But soft")).words == "Reply to your message: But soft")
        #expect(Composing.correction(of: 1, text: "x").words == "Correct the message: x")
    }

    @Test func `The name of the field says to whom the text is, or what it replies to or corrects`() {
        #expect(Composing.message.name(to: "Juliet") == "Message to Juliet")
        #expect(Composing.message.name(to: "") == "Message")
        #expect(Composing.correction(of: 1, text: "x").name(to: "Juliet") == "Correct the message: x")
        #expect(Composing.reply(to: row("But soft")).name(to: "Juliet") == "Reply to your message: But soft")
    }

    @Test func `The line is one line, whatever the message is`() {
        let words =
            Composing.reply(to: row("one\ntwo " + String(repeating: "x", count: 5000), isOwn: false)).words ?? ""
        #expect(!words.contains("\n") && words.count < 500)
    }

    @Test func `The line follows the message that the text replies to`() {
        var page = Page()
        page.messages = [row("But soft", isOwn: false)]
        let reply = Composing.reply(to: page.messages[0])
        #expect(reply.updated(from: page) == reply)
        page.messages[0].text = "But hard"
        #expect(reply.updated(from: page).words == "Reply to Juliet: But hard")
        #expect(reply.updated(from: Page()) == reply, "scrolled out of the loaded part")
        let correction = Composing.correction(of: 1, text: "But soft")
        #expect(correction.updated(from: page) == correction)
    }

    @Test func `A draft is stored again for another text, or another message to reply to`() {
        let (one, other) = (Composing.reply(to: row(id: 1)), Composing.reply(to: row(id: 2)))
        #expect(StoredDraft("a", one).isSame(as: StoredDraft("a", one)))
        #expect(!StoredDraft("a", one).isSame(as: StoredDraft("b", one)))
        #expect(!StoredDraft("a", one).isSame(as: StoredDraft("a", other)))
        #expect(!StoredDraft("a", one).isSame(as: StoredDraft("a")))
        #expect(StoredDraft("", one).isSame(as: StoredDraft("")), "an empty text is no draft")
        #expect(!StoredDraft("a", .correction(of: 3, text: "b")).isSame(as: StoredDraft("a")))
    }
}

@Suite struct OwnTypingTests {
    @Test func `XEP-0085 section 5.3: no state is sent twice in a row`() {
        var typing = OwnTyping()
        #expect(typing.changed(isEmpty: true) == nil && typing.paused() == nil)
        #expect(typing.changed(isEmpty: false) == .composing)
        #expect(typing.changed(isEmpty: false) == nil)
        #expect(typing.paused() == .paused && typing.paused() == nil)
        #expect(typing.changed(isEmpty: false) == .composing)
        #expect(typing.changed(isEmpty: true) == .active && typing.changed(isEmpty: true) == nil)
    }

    @Test func `A message that was sent says that the user is active`() {
        var typing = OwnTyping()
        _ = typing.changed(isEmpty: false)
        typing.sent()
        #expect(typing.paused() == nil && typing.changed(isEmpty: true) == nil)
        #expect(typing.changed(isEmpty: false) == .composing)
    }
}
