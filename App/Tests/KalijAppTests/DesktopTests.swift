import KalijApp
import Testing

@testable import KalijDesktop

/// What the desktop stores, and passes back: any program may make it up.
@Suite @MainActor struct DesktopTests {
    private let key = ConversationKey(account: "romeo@example.net", jid: "garden@rooms.example.net/Juliet of Verona")

    @Test("an action's target is read again, also with spaces in a nickname; what others make up is no target")
    func targets() {
        let target = NotificationTarget(key: key, message: 17, id: "n1")
        #expect(NotificationTarget(target.text) == target)
        for text in ["", " ", "17", "17 n1 romeo@example.net", "x n1 a b", "-1 n1 a b", "99999999999999999999 n1 a b"] {
            #expect(NotificationTarget(text) == nil, "\(text)")
        }
    }

    @Test("a stored handle names the notification and its desktop; another run of the desktop is another one")
    func handles() throws {
        let target = NotificationTarget(key: key, message: 17, id: "n1")
        let handle = NotificationHandle(display: "freedesktop :1.5 guid", number: 3, target: target)
        let read = try #require(NotificationHandle(handle.text))
        #expect(read == handle && NotificationTarget(key, read) == target)
        #expect(read.display != "freedesktop :1.6 guid")
        for text in ["", "3", "3 17 n1", "-3 17 n1 gtk"] { #expect(NotificationHandle(text) == nil, "\(text)") }
    }

    @Test("the command of the autostart file is quoted as the Desktop Entry Specification requires")
    func quoting() {
        #expect(Autostart.quoted("/home/juliet/kalij app") == #""/home/juliet/kalij app""#)
        #expect(Autostart.quoted(#"a"b$c`d%"#) == #""a\\"b\\$c\\`d%%""#)
        #expect(Autostart.quoted(#"a\b"#) == #""a\\\\b""#)
        #expect(Autostart.entry(command: ["kalij-app", "--data", "x\ny"]).split(separator: "\n").count == 5)
    }

    @Test("the command line of both programs")
    func commandLine() throws {
        let target = NotificationTarget(key: key, message: 17, id: "n1")
        let words = try #require(CommandLineWords(["kalij-app", "--data", "/d", "--conversation", target.text]))
        #expect(words.target == target && words.forwarded == ["--data", "/d"] && !words.isBackground)
        #expect(words.applicationID.hasPrefix("org.kalij.App.d"))
        let background = try #require(CommandLineWords(["kalij-app", "--background", "--activated"]))
        #expect(background.isBackground && background.isActivated && background.applicationID == "org.kalij.App")
        #expect(CommandLineWords(["kalij-app", "--data"]) == nil && CommandLineWords(["kalij-app", "--other"]) == nil)
    }
}
