import Glibc
import KalijClient
import KalijStream
import KalijTransport
import Testing

@testable import KalijApp

@Suite struct ConversationListTests {
    private func row(_ name: String, at: Int64, unread: Int = 0) -> ConversationRow {
        var row = ConversationRow(key: ConversationKey(account: "romeo@x", jid: name.lowercased() + "@x"), name: name)
        (row.at, row.unread, row.preview) = (at, unread, "Hello")
        return row
    }

    @Test func `A conversation with something new comes first`() {
        var list = ConversationList()
        list.read([row("Juliet", at: 3), row("Nurse", at: 2), row("Paris", at: 1)])
        list.read([row("Paris", at: 9)])
        #expect(list.shown.map(\.name) == ["Paris", "Juliet", "Nurse"])
    }

    @Test func `A conversation in which nothing is left is no row, but a group is`() {
        var list = ConversationList()
        var group = row("Party", at: 0)
        group.isGroup = true
        list.read([row("Juliet", at: 3), group])
        list.read([row("Juliet", at: 0)])
        #expect(list.shown.map(\.name) == ["Party"])
    }

    @Test func `Heads keep what was read, and are wanted where they are in sight`() {
        var list = ConversationList()
        list.read(heads: [head("Juliet", at: 3), head("Nurse", at: 2), head("Paris", at: 1)])
        #expect(list.wanted([0, 1, 7]) == [row("Juliet", at: 3).key, row("Nurse", at: 2).key])
        list.read([row("Juliet", at: 3)])
        #expect(list.wanted(0..<2) == [row("Nurse", at: 2).key])
        list.read(heads: [head("Nurse", at: 5), head("Juliet", at: 3)])
        #expect(list.shown.map(\.name) == ["Nurse", "Juliet"])
        #expect(list.shown.map(\.preview) == ["", "Hello"])
        #expect(list.wanted(0..<2).count == 2)
    }

    private func head(_ name: String, at: Int64) -> ConversationRow {
        var head = ConversationRow(key: row(name, at: at).key, name: name)
        head.at = at
        return head
    }

    @Test func `A long list grows at its end, and to what is open`() {
        var list = ConversationList()
        list.read(heads: (0..<200).map { head("Person\($0)", at: Int64(1000 - $0)) })
        #expect(list.shown.count == ConversationList.begin)
        #expect(list.grow() && list.shown.count == ConversationList.begin + ConversationList.step)
        list.include(list.found[150].key)
        #expect(list.shown.count == 151)
        #expect(list.grow() && !list.grow() && list.shown.count == 200)
        list.search = "person1"
        #expect(list.shown.count == ConversationList.begin && list.found.count > 100)
    }

    @Test func `A search leaves what has all words`() {
        var list = ConversationList()
        list.read([row("Juliet", at: 3), row("Nurse", at: 2)])
        list.search = "NUR x"
        #expect(list.shown.map(\.name) == ["Nurse"])
        list.search = ""
        #expect(list.shown.count == 2)
    }

    @Test func `Neighbours end at the ends`() {
        var list = ConversationList()
        list.read([row("Juliet", at: 3), row("Nurse", at: 2)])
        #expect(list.neighbour(of: nil, step: 1)?.name == "Juliet")
        #expect(list.neighbour(of: list.shown[0].key, step: 1)?.name == "Nurse")
        #expect(list.neighbour(of: list.shown[0].key, step: -1) == nil)
    }

    @Test func `A row begins with its name, and says what the eye sees`() {
        var juliet = row("Juliet", at: 3, unread: 2)
        #expect(juliet.spoken("19:15") == "Juliet, 2 unread, Hello, 19:15")
        (juliet.draft, juliet.isFailed, juliet.showsAccount) = ("I would", true, true)
        #expect(juliet.spoken("19:15") == "Juliet, account romeo@x, 2 unread, Not sent, Draft: I would, 19:15")
    }
}

@Suite struct FirstStartTests {
    @Test func `What is entered is checked`() throws {
        #expect(throws: LoginForm.Problem(words: Words.badAddress)) { try LoginForm(address: "example.org").checked() }
        #expect(throws: LoginForm.Problem(words: Words.noPassword)) {
            try LoginForm(address: "romeo@example.org").checked()
        }
        #expect(throws: LoginForm.Problem(words: Words.badServer)) {
            try LoginForm(address: "romeo@example.org", password: "x", server: "a:b").checked()
        }
        let form = try LoginForm(address: " romeo@example.org ", password: "x", server: "localhost").checked()
        #expect(form.jid.description == "romeo@example.org")
        #expect(form.server.override?.port == 5222)
    }

    private func words(_ kind: ConnectFailure.Kind) -> String {
        Words.problem(
            LoginError.unreachable(
                ConnectFailure([.init(host: "x", kind: kind, reason: "certificate is self-signed")])),
            of: "example.org")
    }

    @Test func `Each failure has its words`() {
        #expect(words(.noSuchName).contains("no server example.org"))
        #expect(words(.noAnswer).contains("no network"))
        #expect(words(.unreachable).contains("does not answer"))
        #expect(words(.untrusted).contains("certificate is self-signed"))
        #expect(words(.tls).contains("encrypted"))
        let refused = LoginError.refused(.authentication(.refusedByServer(reason: "unknown-user")))
        #expect(Words.problem(refused, of: "x").contains("address or the password is wrong"))
        #expect(Words.problem(LoginError.refused(.tlsNotOffered), of: "x").contains("encrypted"))
    }
}

@Suite struct StateBannerTests {
    private func banner(_ driving: Driving, _ states: [String: AccountStatus]) -> StateBanner? {
        StateBanner.of(driving, states) { "\($0)" }
    }

    @Test func `Online says nothing`() {
        #expect(banner(.here, ["a": .online]) == nil)
        #expect(banner(.starting, [:]) == nil)
    }

    @Test func `Each other state is said, the worst first`() {
        #expect(
            banner(.here, ["a": .offline(since: 7, why: nil)])?.text
                == "Offline since 7. Messages wait and are sent later")
        #expect(
            banner(.here, ["a": .offline(since: 7, why: "there is no network"), "b": .online])?.text
                == "a: Offline since 7: there is no network. Messages wait and are sent later")
        #expect(banner(.here, ["a": .offline(since: 7, why: nil)])?.action == .tryNow)
        #expect(banner(.here, ["a": .offline(since: 7, why: nil), "b": .refused])?.action == .logIn)
        #expect(banner(.here, ["a": .refused, "b": .noStorage("disk full")])?.text.contains("disk full") == true)
        #expect(banner(.migrating, ["a": .connecting])?.text.hasPrefix("Bringing the stored messages") == true)
        #expect(banner(.here, ["a": .connecting])?.text == "Connecting …")
        #expect(banner(.elsewhere, [:])?.action == nil)
        #expect(banner(.failed("x"), [:])?.text == "Kalij cannot go online: x")
    }
}

@Suite struct AnnouncementTests {
    @Test func `Three are spoken, more within two seconds are a number`() {
        var said = SpokenAnnouncements()
        for time in 0..<3 { #expect(said.arrived("m\(time)", now: Int64(time)).text == "m\(time)") }
        #expect(said.arrived("m3", now: 3) == (nil, 2000))
        #expect(said.arrived("m4", now: 10).text == nil)
        #expect(said.due(100) == nil)
        #expect(said.due(2003) == "2 messages")
        #expect(said.due(2004) == nil)
        #expect(said.arrived("m5", now: 2100).text == "m5")
    }
}

@Suite struct PlaceFileTests {
    @Test func `A place is kept and found`() throws {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        // `mkdtemp` writes the name into the array; the app's package has no test support with folders.
        var template = Array("\(base)/kalij-place-XXXXXX".utf8CString)
        let folder = String(cString: try #require(mkdtemp(&template)))
        defer { rmdir(folder) }
        let file = PlaceFile(directory: folder)
        #expect(file.load() == nil)
        let place = Place(ConversationKey(account: "romeo@x", jid: "juliet@x"), message: 41)
        file.keep(place)
        #expect(file.load() == place)
        file.keep(nil)
        #expect(file.load() == nil)
    }
}

@Suite struct SlidingTests {
    @Test func `A full conversation that slides keeps the rows that stay`() {
        for lines in [0, 2, 300] {
            let (old, new) = (Array(60..<(360 + lines)), Array(0..<(300 + lines)))
            #expect(
                ListChange.between(old, and: new) == [
                    ListChange(at: 240 + lines, removed: 60, inserted: 0), ListChange(at: 0, removed: 0, inserted: 60),
                ])
        }
    }
}
