import KalijClient
import Testing

@testable import KalijApp

@Suite struct PersonColorTests {
    @Test func `A text without spaces is broken within words from a length on, whatever its letters are`() {
        #expect(!String(repeating: "Good morrow\n", count: 1_000).hasLongRun)
        #expect(!String(repeating: "x", count: 2_000).hasLongRun)
        #expect(String(repeating: "x", count: 2_001).hasLongRun)
        #expect(("a " + String(repeating: "é", count: 1_001) + " b").hasLongRun)
    }

    @Test func `The hues are those of XEP-0392`() {
        let hues = [
            ("Romeo", 327.255249), ("juliet@capulet.lit", 209.410400), ("😺", 331.199341), ("council", 359.994507),
        ]
        for (key, hue) in hues { #expect(abs(PersonColor.degrees(of: key) - hue) < 0.000001) }
        #expect(hues.map { PersonColor.place(of: $0.0) } == [10, 6, 11, 11])
    }
}

@Suite struct MessageRowTests {
    private func row(_ text: String, state: DeliveryState? = nil, isOwn: Bool = true) -> MessageRow {
        MessageRow(id: 1, author: isOwn ? "You" : "Juliet", isOwn: isOwn, text: text, at: 0, state: state)
    }

    @Test func `Nobody is called as the user is, and no name is a row`() {
        #expect("Juliet".shownAuthor == "Juliet" && "Young".shownAuthor == "Young")
        #expect("You".shownAuthor == "“You”" && " yOU!".shownAuthor == "“ yOU!”")
        #expect("You, 19:15: Yes".shownAuthor == "“You, 19 15  Yes”")
        #expect("Romeo, 19:15: Yes".shownAuthor == "Romeo, 19 15  Yes")
    }

    @Test func `A row begins with its author, then time, text, state`() {
        #expect(row("Good night.", state: .delivered).spoken("19:15") == "You, 19:15: Good night. Delivered")
        #expect(row("Good night", state: .delivered).spoken("19:15") == "You, 19:15: Good night. Delivered")
        #expect(row("Good night", isOwn: false).spoken("19:15") == "Juliet, 19:15: Good night")
    }

    @Test func `In a group the state is how many have read, and a menu tells who`() {
        var message = row("Good night", state: .sent)
        message.reading = .group(readers: [], others: ["Romeo", "Mercutio"])
        #expect(message.spoken("19:15") == "You, 19:15: Good night. Sent" && message.actions.contains(.readers))
        message.reading = .group(readers: ["Romeo"], others: ["Mercutio"])
        #expect(message.spoken("19:15") == "You, 19:15: Good night. Read by 1 of 2")
        #expect(
            message.reading?.details
                == "Have read it: Romeo\n\nHave not said that they have read it (not everybody tells): Mercutio")
        message.reading = .group(readers: ["Romeo", "Mercutio"], others: [])
        #expect(message.foot("19:15") == "19:15  ·  Read by all")
        message.state = .notSent(nil)
        #expect(message.foot("19:15") == "19:15  ·  Not sent", "a failure is not hidden")
        message.reading = nil
        #expect(!message.actions.contains(.readers))
    }

    @Test(arguments: [
        (DeliveryState.sent, "Your server has it."), (.delivered, "It has arrived."), (.read, "Juliet has read it."),
    ])
    func `To one person the state is a word, and a menu tells what it means`(
        _ state: DeliveryState, _ begin: String
    ) throws {
        var message = row("Good night", state: state)
        message.reading = ContactReading(state, by: "Juliet").map { .contact($0) }
        #expect(message.foot("19:15") == "19:15  ·  " + state.words)
        #expect(message.actions.contains(.readers))
        #expect(try #require(message.reading).details.hasPrefix(begin))
        #expect(ContactReading(.sending, by: "Juliet") == nil && ContactReading(.unknown, by: "Juliet") == nil)
    }

    @Test(arguments: [
        (DeliveryState.waiting(nil), "Waiting"), (.waiting(.nothing), "Sending"), (.sending, "Sending"),
        (.sent, "Sent"), (.delivered, "Delivered"),
        (.read, "Read"), (.notSent(nil), "Not sent"), (.notSent("no such user"), "Not sent: no such user"),
        (.unknown, "Unknown whether it arrived"),
    ])
    func `Each state is a word`(_ state: DeliveryState, _ words: String) {
        #expect(state.words == words)
        #expect(row("x", state: state).foot("19:15") == "19:15  ·  " + words)
    }

    @Test(arguments: [
        (WaitReason.driver, "the running program has not taken it yet"), (.connection(nil), "no connection"),
        (.archive, "earlier messages are checked first"), (.keys(nil), "encryption keys are fetched"),
        (.keys("server gone"), "encryption keys cannot be fetched now"),
        (.decision, "the other side no longer wants encryption"), (.room(nil), "you are not in the group"),
        (.earlier, "the message before it is checked first"),
    ])
    func `What a message waits for is in the user's words, for eyes and ears`(_ reason: WaitReason, _ words: String) {
        let state = DeliveryState(.queued, isSettled: true, isInRoom: false, error: nil, waitsFor: reason)
        let message = row("Good night", state: state)
        #expect(message.foot("19:15") == "19:15  ·  Waiting: " + words)
        #expect(message.spoken("19:15") == "You, 19:15: Good night. Waiting: " + words)
    }

    @Test func `Without a connection a message waits for it, unless it is in the mailbox`() {
        var page = Page()
        page.messages = [WaitReason.nothing, .keys(nil), .driver].map { row("x", state: .waiting($0)) }
        page.messages.append(row("x", state: .sent))
        #expect(page.hasWaiting)
        page.noteOffline()
        #expect(
            page.messages.map(\.state) == [
                .waiting(.connection(nil)), .waiting(.connection(nil)), .waiting(.driver), .sent,
            ])
        page.messages.removeFirst(3)
        #expect(!page.hasWaiting)
    }

    @Test func `In a room a message is sent only when the room has shown it`() {
        #expect(DeliveryState(.acked, isSettled: true, isInRoom: true, error: nil) == .sending)
        #expect(DeliveryState(.delivered, isSettled: true, isInRoom: true, error: nil) == .sent)
        #expect(DeliveryState(.acked, isSettled: true, isInRoom: false, error: nil) == .sent)
        #expect(DeliveryState(.sent, isSettled: false, isInRoom: false, error: nil) == .unknown)
        #expect(DeliveryState(nil, isSettled: true, isInRoom: false, error: nil) == nil)
    }

    @Test func `What is answered is said after the time`() {
        var message = row("Yes.", isOwn: false)
        message.answered = Words.answersYou("“Tonight?”")
        #expect(message.spoken("19:15") == "Juliet, 19:15, answers you: “Tonight?”: Yes.")
        #expect(Words.answers("Romeo", "“Hi”") == "answers Romeo: “Hi”")
    }

    @Test func `Reactions and corrections are words`() {
        var message = row("Good night", state: .read)
        (message.reactions, message.isEdited) = ([ReactionCount("❤", count: 1, isOwn: false)], true)
        #expect(message.spoken("19:15") == "You, 19:15: Good night. Edited. Reactions: ❤. Read")
    }
}

@Suite struct ShownTextTests {
    @Test func `A name stays on its line and in its direction`() {
        #expect("Ro\u{202E}oem\nnew line\u{200F}".shownName.contains("\u{202E}") == false)
        #expect("Romeo\nJuliet: I lie".shownName == "Romeo Juliet: I lie")
        #expect("<b>Romeo</b> &amp;".shownName == "<b>Romeo</b> &amp;")
    }

    @Test func `A text of 10 MB is cut, and says so`() {
        let (text, isCut) = String(repeating: "é", count: 5_000_000).shownText
        #expect(isCut)
        #expect(text.withoutBreakingPlaces.utf8.count <= 8_000)
        #expect(!text.contains("\u{FFFD}"))
    }

    @Test func `10,000 emoji are cut between emoji`() {
        let (text, isCut) = String(repeating: "👩‍👩‍👧", count: 10_000).shownText
        #expect(isCut)
        #expect(text.withoutBreakingPlaces.count < 25)
        #expect(String(repeating: "😀", count: 140).shownText.text.withoutBreakingPlaces.count == 140)
        #expect(text.allSatisfy { $0 == "👩‍👩‍👧" || $0 == "\u{200B}" })
    }

    @Test func `A long word can be broken, and is copied whole`() {
        let word = String(repeating: "x", count: 200)
        #expect(word.shownText.text.split(separator: "\u{200B}").map(\.count) == [60, 60, 60, 20])
        #expect(word.shownText.text.withoutBreakingPlaces == word)
    }

    @Test func `A short text stays, lines and all`() {
        let (text, isCut) = "one\n\ntwo".shownText
        #expect(text == "one\n\ntwo")
        #expect(!isCut)
    }

    @Test func `10,000 lines are cut`() {
        let (text, isCut) = String(repeating: "a\n", count: 3_000).shownText
        #expect(isCut)
        #expect(text.split(separator: "\n").count == 200)
    }

    @Test func `Values with braces are no places`() {
        #expect(filled("{a}: {b}", ["a": "{b}", "b": "x"]) == "{b}: x")
        #expect(filled("{unknown} {", [:]) == "{unknown} {")
    }
}
