import Foundation
import KalijClient
import KalijStream
import Testing

@testable import KalijApp

@Suite struct AccountPlaceTests {
    @Test func `A server is a name, with a port if the DNS has none`() throws {
        let plain = try AccountPlace(server: " Example.org ").checked()
        #expect(plain.domain == "example.org" && plain.server.override == nil && plain.token == nil)
        let local = try AccountPlace(server: "localhost:5333").checked()
        #expect(local.domain == "localhost" && local.server.override?.port == 5333)
        let wrong = [("", Words.noServer), ("romeo@example.org", Words.badServerName), ("a b@", Words.badServerName)]
        for (server, words) in wrong {
            #expect(throws: LoginForm.Problem(words: words)) { try AccountPlace(server: server).checked() }
        }
    }

    @Test func `An invitation fills in the server, and says who invites`() throws {
        let link = "xmpp:romeo@example.org?roster;preauth=T;ibr=y;name=Romeo"
        let place = AccountPlace(link: " \(link)\n")
        #expect(place.inviter == "Romeo (romeo@example.org) invites you to chat, with an account at example.org")
        let registration = try place.checked()
        #expect(registration.domain == "example.org" && registration.token == "T")
        #expect(registration.server.override == nil)
        #expect(registration.invitation?.contact?.preauth == "T")
        let elsewhere = try AccountPlace(link: link, server: "localhost").checked()
        #expect(elsewhere.domain == "example.org" && elsewhere.server.override?.description == "localhost:5222")
    }

    @Test func `An invitation of a contact alone needs a server, which does not get the token`() throws {
        let link = "xmpp:romeo@example.org?roster;preauth=T"
        #expect(throws: LoginForm.Problem(words: Words.serverOfChoice)) { try AccountPlace(link: link).checked() }
        let registration = try AccountPlace(link: link, server: "example.net").checked()
        #expect(registration.domain == "example.net" && registration.token == nil)
        #expect(registration.invitation?.contact?.jid.description == "romeo@example.org")
    }

    @Test func `Other links are no invitations`() {
        #expect(throws: LoginForm.Problem(words: Words.badInvitation)) {
            try AccountPlace(link: "https://example.org/invite", server: "example.org").checked()
        }
    }
}

@Suite struct AccountFormTests {
    private static let riddle = """
        <instructions>Choose a name</instructions><x xmlns='jabber:x:data' type='form'>\
        <field var='challenge' type='hidden'><value>1</value></field><field var='username'/><field var='password'/>\
        <field type='fixed'><value>Now the riddle</value></field>\
        <field var='url' label='Page'><value>https://example.org/page</value></field>\
        <field var='ocr' label='What is it?'><required/><media xmlns='urn:xmpp:media-element'>\
        <uri type='image/png'>cid:1@bob.xmpp.org</uri><uri type='audio/wav'>https://example.org/a.wav</uri></media></field>\
        <field var='place' type='list-single' label='Town'><value>b</value><option label='Verona'><value>a</value></option>\
        <option><value>b</value></option></field><field var='news' type='boolean' label='News'><value>true</value></field></x>\
        <data xmlns='urn:xmpp:bob' cid='1@bob.xmpp.org' type='image/png'>AQID</data>
        """

    private func form(_ query: String, _ link: String = "xmpp:example.org?register;preauth=T") throws -> AccountForm {
        let answer = "<iq type='result' id='form'><query xmlns='jabber:iq:register'>\(query)</query></iq>"
        let form = try RegistrationForm(Element.parse(answer))
        return try AccountForm(form, AccountRegistration(try #require(InvitationLink(link))))
    }

    @Test func `Each field of the server is a part with its kind and its label`() throws {
        let form = try form(Self.riddle)
        #expect(form.instructions == "Choose a name")
        #expect(form.parts.map(\.field) == [nil, nil, "ocr", "place", "news"])
        #expect(form.parts.map(\.label) == ["Now the riddle", "", "What is it?", "Town", "News"])
        #expect(form.parts[0].kind == .note && form.parts[2].kind == .text && form.parts[4].kind == .check)
        #expect(form.parts[3].kind == .choice([.init(value: "a", label: "Verona"), .init(value: "b", label: "b")]))
        #expect(form.parts[2].picture == [1, 2, 3] && form.parts[2].isRequired)
        #expect(form.parts[2].links == [.init(label: "Listen to the question", address: "https://example.org/a.wav")])
        #expect(form.parts[1].links == [.init(label: "Page", address: "https://example.org/page")])
        #expect(form.values == ["ocr": "", "place": "b", "news": "true"])
    }

    @Test func `Fields of the older list have names in words`() throws {
        let form = try form("<username/><password/><email/><misc/>")
        #expect(form.parts.map(\.label) == ["Email address", "misc"])
        #expect(form.parts.map(\.isRequired) == [true, true])
    }

    @Test func `What is missing or wrong is said beside its field`() throws {
        var form = try form(Self.riddle)
        func place(_ form: AccountForm) -> AccountForm.Place? {
            do throws(AccountForm.Problem) { _ = try form.account() } catch { return error.place }
            return nil
        }
        #expect(place(form) == .name)
        for name in ["romeo@example.net", "a b@", "@"] {
            form.name = name
            #expect(place(form) == .name, "\(name)")
        }
        form.name = " juliet@example.org"
        #expect(place(form) == .password)
        form.password = "secret"
        #expect(place(form) == .field("ocr"))
        form.values["ocr"] = " 42 "
        #expect(place(form) == nil)
        let account = try form.account()
        #expect(account.jid.description == "juliet@example.org" && account.password == "secret")
        #expect(account.values == ["ocr": ["42"], "place": ["b"], "news": ["1"]])
    }

    @Test func `Several choices are a list of choices, and each chosen one is a value`() throws {
        let options = "<option label='News'><value>n</value></option><option><value>b</value></option>"
        var form = try form(
            "<x xmlns='jabber:x:data' type='form'><field var='username'/><field var='password' type='text-private'/>"
                + "<field var='lists' type='list-multi' label='Lists'><required/><value>n</value>\(options)</field></x>"
        )
        #expect(
            form.parts.map(\.kind) == [.choices([.init(value: "n", label: "News"), .init(value: "b", label: "b")])])
        #expect(form.values == ["lists": "n"])
        (form.name, form.password) = ("juliet", "secret")
        form.values["lists"] = "n\nb"
        #expect(try form.account().values == ["lists": ["n", "b"]])
        form.values["lists"] = ""
        #expect(throws: AccountForm.Problem(Words.enter("Lists"), at: .field("lists"))) { try form.account() }
    }

    @Test func `The texts of a form are bounded, whatever letters they are of`() throws {
        func form(_ count: Int, _ label: String, value: String = "") throws -> AccountForm {
            let field = "type='text-multi' label='\(label)'><value>\(value)</value></field>"
            let fields = (0..<count).map { "<field var='f\($0)' " + field }.joined()
            return try self.form("<x xmlns='jabber:x:data' type='form'>\(fields)</x>")
        }
        let marks = "Z" + String(repeating: "\u{335}", count: 100_000)
        let label = try form(1, marks).parts[0].label
        #expect(label.utf8.count <= 800 && label.unicodeScalars.first == "Z")
        let told = String(repeating: "<instructions>line</instructions>", count: 9_000)
        let instructions = try self.form("<x xmlns='jabber:x:data' type='form'>\(told)</x>").instructions
        #expect(instructions.split(separator: "\n").count == 200)
        let tooLong = RegistrationError.invalidAnswer("its texts are too long")
        func text(_ letter: String, _ count: Int) -> String { String(repeating: letter, count: count) }
        #expect(throws: tooLong) { try form(1, "A", value: text("x", 2_001)) }
        #expect(throws: tooLong) { try form(30, text("é", 500), value: text("x", 500)) }
        #expect(throws: tooLong) { try form(30, text("\u{1F469}\u{200D}\u{1F680}", 30)) }
        #expect(try form(30, "A usual question", value: "an answer").parts.count == 30)
        #expect(marks.shownName.utf8.count <= 410 && marks.shownLine.utf8.count <= 800)
    }

    @Test func `A reserved name is filled in`() throws {
        let form = try form("<username/><password/>", "xmpp:juliet@example.org?register;preauth=T")
        #expect(form.reserved == "juliet" && form.name == "juliet")
    }

    @Test func `A refusal is said beside the field that it is about`() throws {
        var form = try form(Self.riddle)
        form.name = "juliet"
        func problem(
            _ condition: StanzaError.Condition, kind: StanzaError.Kind? = nil, _ text: String? = nil
        ) -> AccountForm.Problem {
            form.problem(.refused(StanzaError(condition, kind: kind, text: text)))
        }
        let wrong = AccountForm.Problem(Words.wrongAnswer, at: .field("ocr"))
        #expect(problem(.conflict) == .init(Words.nameTaken("juliet"), at: .name))
        #expect(problem(.jidMalformed).place == .name)
        #expect(problem(.notAllowed, "The CAPTCHA verification has failed") == wrong)
        #expect(problem(.notAcceptable, "The password is too weak").words.contains("too weak"))
        #expect(problem(.notAcceptable, "The password is too weak").place == .form)
        #expect(problem(.resourceConstraint, kind: .wait).words.contains("Try again later"))
        #expect(form.problem(.expired).place == .field("ocr"))
        let plain = try self.form("<username/><password/>")
        #expect(plain.problem(.refused(StanzaError(.notAllowed))).place == .form)
    }

    @Test func `Another form keeps what was entered, but no answer about another picture`() throws {
        var former = try form(Self.riddle)
        (former.name, former.password) = ("juliet", "secret")
        former.values = ["ocr": "42", "place": "a", "news": "0"]
        var next = try form(Self.riddle)
        next.keep(former)
        #expect(next.name == "juliet" && next.password == "secret")
        #expect(next.values == ["ocr": "", "place": "a", "news": "0"])
    }

    @Test func `Each reason why a server makes no account has its words`() throws {
        let registration = AccountRegistration(at: "example.org")
        func obstacle(_ error: RegistrationError) -> AccountMaking.Obstacle { .init(error, registration) }
        #expect(obstacle(.notOffered(invitations: true)).words.contains("invitation"))
        #expect(obstacle(.notOffered(invitations: false)).words.contains("another server"))
        #expect(obstacle(.invitation(StanzaError(.itemNotFound))).words.contains("not valid"))
        #expect(obstacle(.elsewhere("https://example.org/new")).page == "https://example.org/new")
        #expect(obstacle(.elsewhere("javascript:alert(1)")).page == nil)
        #expect(obstacle(.invalidAnswer("nothing")).words.contains("nothing"))
        let broken = AccountMaking.Obstacle(LoginError.failed("silence"), registration).words
        #expect(broken.contains("silence") && broken.contains("is kept"))
    }

    @Test func `A server without chat was named by the user, or is the end of an address`() {
        let registration = AccountRegistration(at: "example.org")
        #expect(
            AccountMaking.Obstacle(LoginError.noStream("no stream"), registration).words
                == "example.org offers no chat. Check the name")
        #expect(
            Words.problem(LoginError.noStream("no stream"), of: "example.org")
                == "example.org offers no chat. Check the part of the address after the @")
    }
}

@Suite struct SettingsPageTests {
    @Test func `Each switch changes its setting alone`() throws {
        for setting in SettingSwitch.allCases {
            let change = setting.change(false)
            let set = [change.typing, change.markers, change.receipts, change.preview, change.downloads].compactMap {
                $0
            }
            #expect(set == [false], "\(setting)")
            #expect(change.conversation == nil)
            try change.check()
        }
    }

    @Test func `A picture and files that are not there are not removed`() {
        var settings = AccountSettings(account: "romeo@example.org", name: "", picture: nil, on: [])
        #expect(settings.actions == [.rename, .changePicture, .changePassword, .export, .logOut, .delete])
        #expect(settings.storage == "No received files on this computer")
        (settings.files, settings.fileSize) = (2, 12_000)
        #expect(settings.actions.contains(.clearFiles) && settings.storage == "2 received files: 12\u{A0}KB")
        #expect(AccountAction.allCases.filter(\.isDestructive) == [.delete])
        let places = AccountActionPlace.allCases.flatMap(settings.actions(at:))
        #expect(Set(places) == Set(settings.actions) && places.count == settings.actions.count)
        #expect(Words.deleteHint(["Garden"]).contains("among the members of the group: Garden"))
        #expect(AccountAction.changePassword.plain == "Change the password")
    }

    @Test func `A choice is displayed until it is stored, whatever is read meanwhile`() {
        var stored = AccountSettings(account: "romeo@example.org", name: "", picture: nil, on: [.typing, .markers])
        var choices = SettingChoices()
        choices.choose(.typing, false)
        choices.choose(.preview, true)
        choices.choose(.mentions)
        stored.state = "Online"
        #expect(choices.shown(stored).on == [.markers, .preview] && choices.shown(stored).notify == .mentions)
        (stored.on, stored.notify) = ([.markers, .preview], .mentions)
        #expect(choices.shown(stored) == stored && choices == SettingChoices(), "what is stored is no longer a choice")
        stored.on = [.typing, .markers]
        #expect(choices.shown(stored) == stored, "another device changes it afterwards")
    }

    @Test func `Each choice of notifications changes that setting of the whole account`() throws {
        for (level, word) in zip(NotifyLevel.allCases, ["all", "mentions", "none"]) {
            let change = level.change
            #expect(change.notify == word && change.conversation == nil && change.preview == nil)
            try change.check()
        }
        #expect(NotifyLevel(.mutedUntil(5)) == .all && NotifyLevel(.mentions) == .mentions)
        #expect(Set(NotifyLevel.allCases.map(\.words)).count == 3)
    }

    @Test func `The appearance is kept; nothing readable is no choice`() throws {
        let folder = NSTemporaryDirectory() + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(Appearance.load(in: folder) == nil)
        for appearance in Appearance.allCases {
            try appearance.keep(in: folder)
            #expect(Appearance.load(in: folder) == appearance)
        }
        try "purple".write(toFile: folder + "/app.appearance", atomically: true, encoding: .utf8)
        #expect(Appearance.load(in: folder) == nil)
        #expect(throws: FileError(.notFound)) { try Appearance.dark.keep(in: folder + "/nowhere") }
        #expect(Set(Appearance.allCases.map(\.words)).count == 3)
    }

    @Test func `Why nothing was exported is said in words`() {
        #expect(Words.why(FileError(.diskFull)) == "the disk is full")
        #expect(Words.why(FileError(.notAllowed, "creating")) == "the folder does not permit it")
        #expect(Words.why(FileError(.notFound)) == "there is no such folder")
    }

    @Test func `Each outcome of a change at the server has its words`() {
        #expect(Words.outcome(.done, of: .changePassword, on: "romeo@x").contains("changed"))
        #expect(Words.outcome(.refused("too weak"), of: .changePassword, on: "romeo@x").contains("too weak"))
        #expect(Words.outcome(.unknown, of: .changePassword, on: "romeo@x").contains("Both passwords"))
        #expect(Words.outcome(.done, of: .delete, on: "romeo@x").contains("deleted"))
        #expect(Words.outcome(.refused("forbidden"), of: .delete, on: "romeo@x").contains("forbidden"))
        #expect(Words.outcome(.unknown, of: .delete, on: "romeo@x").contains("next connection"))
    }
}
