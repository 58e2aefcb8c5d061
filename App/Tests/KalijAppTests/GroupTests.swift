import Testing

@testable import KalijApp

@Suite struct GroupFormTests {
    private func form(isNew: Bool = true) -> GroupForm {
        var form = GroupForm(isNew: isNew)
        form.contacts = [
            GroupGuest(jid: "juliet@x", name: "Juliet"), GroupGuest(jid: "julian@x", name: "Julian"),
            GroupGuest(jid: "nurse@x", name: "Nurse"),
        ]
        return form
    }

    @Test func `A name finds a contact, and who was chosen is not suggested again`() throws {
        var form = form()
        form.words = "juli"
        #expect(form.suggestions.map(\.name) == ["Juliet", "Julian"])
        #expect(throws: GroupForm.Problem(words: "2 contacts have this name: choose one")) { try form.addWritten() }
        form.words = "juliet"
        try form.addWritten()
        #expect(form.guests.map(\.jid) == ["juliet@x"] && form.words.isEmpty)
        form.words = "juli"
        #expect(form.suggestions.map(\.name) == ["Julian"])
    }

    @Test func `An address is enough, a name that nobody has is a problem in words`() throws {
        var form = form()
        form.words = " paris@y/away "
        try form.addWritten()
        #expect(form.guests == [GroupGuest(jid: "paris@y", name: "paris@y")])
        form.words = "tybalt"
        #expect(throws: GroupForm.Problem.self) { try form.addWritten() }
        #expect(form.guests.count == 1 && form.words == "tybalt")
    }

    @Test func `A group needs a name, an invitation needs somebody`() throws {
        var new = form()
        new.name = "  "
        #expect(!new.isComplete)
        #expect(throws: GroupForm.Problem(words: "Give the group a name")) { try new.submit() }
        new.name = "Balcony"
        new.words = "nurse"
        #expect(try new.submit().map(\.description) == ["nurse@x"])
        var invitation = form(isNew: false)
        #expect(!invitation.isComplete)
        invitation.words = "nurse"
        #expect(invitation.isComplete)
    }

    @Test func `At most a hundred people are invited at once, and nobody twice`() throws {
        var form = form()
        for number in 0..<100 { try form.add(GroupGuest(jid: "\(number)@x", name: "\(number)")) }
        #expect(throws: GroupForm.Problem.self) { try form.add(GroupGuest(jid: "more@x", name: "more")) }
        form.remove(form.guests[0])
        try form.add(GroupGuest(jid: "5@x", name: "again"))
        #expect(form.guests.count == 99)
    }
}

@Suite struct MemberRowTests {
    private func member(
        _ name: String, jid: String? = "juliet@x", isOwn: Bool = false, isPresent: Bool? = true
    ) -> MemberRow {
        MemberRow(
            jid: jid, nick: "Juliet", name: name.shownName.shownAuthor, affiliation: "admin", role: "moderator",
            isOwn: isOwn, isPresent: isPresent, actions: [])
    }

    @Test func `A member is heard with address, role and presence in words`() {
        #expect(member("Juliet").spoken == "Juliet, juliet@x, admin, present")
        #expect(member("juliet@x", isPresent: false).spoken == "juliet@x, admin, not present")
        #expect(member("juliet@x", isPresent: nil).spoken == "juliet@x, admin")
        #expect(member("Romeo", jid: "romeo@x", isOwn: true).spoken == "You (Romeo), romeo@x, admin, present")
        #expect(member("romeo@x", jid: "romeo@x", isOwn: true).spoken == "You, romeo@x, admin, present")
    }

    @Test func `Nobody else is called You, and no name turns the writing around`() {
        #expect(member("You").title == "“You”")
        #expect(member("You\u{202E}").spoken.hasPrefix("“You”, juliet@x"))
        #expect(
            !member("Jul\u{2066}iet\u{202E}").spoken.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{2066}" })
    }
}

@Suite struct GroupHeadTests {
    @Test func `Below the name of a group are its people and its topic, and no address`() {
        #expect(Words.head(3, isGroup: true, topic: "") == "3 members")
        #expect(Words.head(1, isGroup: true, topic: "Names and roses") == "1 member, Names and roses")
        #expect(Words.head(7, isGroup: false, topic: "") == "7 people present")
    }

    @Test func `A topic that another member changes is announced, and so is its removal; who comes and goes is not`() {
        let head = { (topic: String, nicks: [String]) in GroupHead(line: "", topic: topic, nicks: nicks) }
        #expect(head("Roses", []).change(since: head("", [])) == "Topic: Roses")
        #expect(head("", []).change(since: head("Roses", [])) == "The topic is removed")
        #expect(head("Roses", ["nurse"]).change(since: head("Roses", [])) == nil)
    }
}

@Suite struct GroupPictureTests {
    @Test func `A file that is no picture is refused before the group is made`() throws {
        var form = GroupForm()
        #expect(throws: GroupForm.Problem.self) { try form.choose(Array("<svg/>".utf8)) }
        #expect(throws: GroupForm.Problem.self) { try form.choose([UInt8](repeating: 0xFF, count: 300_000)) }
        #expect(form.picture == nil)
        let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]
        try form.choose(jpeg)
        #expect(form.picture == jpeg && !form.isComplete)
        form.removePicture()
        #expect(form.picture == nil)
    }
}

@Suite struct PeopleTests {
    private let people = People(["juliet@x": "Juliet", "nurse@x": "Nurse"], own: "romeo@x")

    @Test func `A contact in a room is called as the user calls the contact`() {
        #expect(people.author("juliet", "juliet@x") == "Juliet")
        #expect(people.author("Tybalt", "tybalt@x") == "Tybalt" && people.author("Tybalt", nil) == "Tybalt")
    }

    @Test(arguments: ["Juliet", "juliet", "JuIiet", "Jul\u{0456}et", "Juliet\u{2066}", "J u l i e t", "Juliet."])
    func `Nobody else appears under the name of a contact`(_ nick: String) {
        #expect(people.author(nick, "mallory@x").hasSuffix("” (mallory@x)"), "\(people.author(nick, "mallory@x"))")
        #expect(people.author(nick, nil).hasPrefix("“"))
    }

    @Test func `Nobody else appears as You, whatever the letters`() {
        #expect(people.author("y\u{043E}u\u{200B}", "mallory@x").hasPrefix("“y"))
        #expect(people.author("Young", "mallory@x") == "Young")
        #expect(people.author("You", "mallory@x") == "“You” (mallory@x)" && people.author("You", nil) == "“You”")
        #expect(
            people.author("romeo", "mallory@x") == "“romeo” (mallory@x)" && people.author("romeo", "romeo@x") == "romeo"
        )
    }

    @Test func `A name with a comma cannot look like the rest of a row`() {
        #expect(people.author("Juliet, 19:15: Yes", "mallory@x") == "“Juliet, 19 15  Yes”")
    }
}

@Suite struct CreationRowTests {
    @Test func `A group in creation comes first, with its stage instead of a message`() {
        var (group, other) = (
            ConversationRow(key: ConversationKey(account: "romeo@x", jid: "id"), name: "Balcony"),
            ConversationRow(key: ConversationKey(account: "romeo@x", jid: "nurse@x"), name: "Nurse")
        )
        group.creation = CreationState(
            id: "id", room: "room@muc.x", words: "The group is being set up", isFailed: false)
        (group.isGroup, other.isPinned, other.at) = (true, true, 9)
        var list = ConversationList()
        list.read(heads: [group, other].sorted(by: ConversationRow.isBefore))
        #expect(list.shown.map(\.name) == ["Balcony", "Nurse"])
        #expect(group.spoken("") == "Balcony, The group is being set up")
        #expect(group.actions.isEmpty)
        #expect(group.represents(ConversationKey(account: "romeo@x", jid: "room@muc.x")))
        #expect(!group.represents(ConversationKey(account: "other@x", jid: "room@muc.x")))
    }

    @Test func `What a request wants is said with the addresses, by which an imitation is recognized`() {
        let invitation = RequestRow(
            kind: .invitation, key: ConversationKey(account: "romeo@x", jid: "room@muc.x"), name: "Juliet",
            address: "mallory@y", picture: nil, text: "Come", at: 1, showsAccount: false)
        #expect(invitation.spoken("19:15") == "Juliet invites you to a group, mallory@y, room@muc.x, Come, 19:15")
        var named = invitation
        named.group = "Feast"
        #expect(named.question == "Juliet invites you to the group “Feast”")
        let contact = RequestRow(
            kind: .contact, key: ConversationKey(account: "romeo@x", jid: "nurse@x"), name: "nurse@x",
            address: "nurse@x", picture: nil, text: "", at: 1, showsAccount: true)
        #expect(contact.spoken("") == "nurse@x wants to be your contact, account romeo@x")
    }
}

@Suite struct MentionCompletionTests {
    private let names = ["juliet", "Julian", "nurse"]

    private func completion(_ text: String) -> MentionCompletion {
        var completion = MentionCompletion()
        completion.changed(text, among: names)
        return completion
    }

    @Test func `An at sign at the begin of a word completes the names that begin so`() {
        #expect(completion("@").names == names)
        #expect(completion("Good night, @jul").names == ["juliet", "Julian"])
        #expect(completion("write to romeo@jul").names.isEmpty)
        #expect(completion("jul").names.isEmpty && completion("@jul\nnur").names.isEmpty)
        #expect(completion("@juliet").names.isEmpty)
    }

    @Test func `The selected name replaces what was typed`() {
        var jul = completion("x @jul")
        #expect(jul.length == 4 && jul.replacement == "@juliet ")
        jul.move(1)
        #expect(jul.replacement == "@Julian ")
        jul.move(1)
        #expect(jul.replacement == "@juliet ")
        jul.move(-1)
        #expect(jul.replacement == "@Julian ")
        jul.close()
        #expect(!jul.isShown && jul.replacement == nil)
    }
}

@Suite struct ContactListTests {
    private func list(_ words: String) -> ContactList {
        var list = ContactList(account: "romeo@x")
        list.contacts = [("Juliet", "juliet@x"), ("nurse@x", "nurse@x")].map { name, jid in
            PersonRow(key: ConversationKey(account: "romeo@x", jid: jid), name: name)
        }
        list.words = words
        return list
    }

    @Test func `A part of a name or an address finds contacts, and says how many`() {
        #expect(list("").shown.map(\.spoken) == ["Juliet, juliet@x", "nurse@x"])
        #expect(list("").count == "2 contacts")
        #expect(list("JUL").shown.map(\.title) == ["Juliet"])
        #expect(list("@x liet").count == "1 contact")
        #expect(list("paris").count == "Nothing found")
        #expect(ContactList(account: "romeo@x").count == "No contacts yet")
    }

    @Test func `A whole address that no contact has is the first row`() {
        let shown = list(" paris@x/tower ").shown
        #expect(shown.map(\.spoken) == ["Write to paris@x"])
        #expect(shown.first?.key == ConversationKey(account: "romeo@x", jid: "paris@x"))
        #expect(list("paris@x").count == "Write to paris@x" && list("e@x").count == "Write to e@x, 1 contact")
        #expect(list("Juliet@X").shown.map(\.title) == ["Juliet"])
        // The beginning of a contact's address is an address.
        #expect(list("e@x").shown.map(\.title) == ["Write to e@x", "nurse@x"])
    }

    @Test func `No address turns the writing around, and an account is said if there are several`() {
        let row = PersonRow(
            key: ConversationKey(account: "romeo@x", jid: "juliet@x"), name: "You\u{202E}".shownName, showsAccount: true
        )
        #expect(row.spoken == "You, juliet@x, account romeo@x")
    }

    @Test func `Ten thousand contacts are searched in a moment`() {
        var list = list("")
        list.contacts = (0..<10_000).map {
            PersonRow(key: ConversationKey(account: "romeo@x", jid: "person\($0)@x"), name: "Person \($0)")
        }
        list.words = "person 9999"
        let clock = ContinuousClock()
        var shown: [PersonRow] = []
        #expect(clock.measure { shown = list.shown } < .milliseconds(500))
        #expect(shown.map(\.key.jid) == ["person9999@x"])
    }
}
