import KalijAddress
import KalijClient
import Testing

@testable import KalijApp

private let key = ConversationKey(account: "romeo@example.org", jid: "juliet@example.org")

private func fingerprint(_ digit: Character) throws -> Fingerprint {
    try #require(Fingerprint(String(repeating: digit, count: 64)))
}

@Suite struct DeviceRowTests {
    private func device(_ state: DeviceState, isListed: Bool = true, isOwn: Bool = false) throws -> DeviceRow {
        try DeviceRow(device: 7, fingerprint: fingerprint("a"), state: state, isListed: isListed, isOwn: isOwn)
    }

    @Test func `A device is heard with its state, its last message and its key in groups of eight`() throws {
        let groups = Array(repeating: "aaaaaaaa", count: 8).joined(separator: " ")
        #expect(try device(.verified).spoken("") == "Device 7, Verified, key " + groups)
        #expect(
            try device(.undecided).spoken("19:15")
                == "Device 7, Undecided: receives nothing, last message 19:15, key " + groups)
        #expect(try device(.blind, isListed: false).words == "No longer used. Trusted without verification")
        #expect(try device(.this).spoken("") == "This device, key " + groups)
        let unmet = DeviceRow(device: 7, fingerprint: nil, state: .unknown)
        #expect(unmet.spoken("") == "Device 7, Not met yet, no key yet" && unmet.actions.isEmpty)
    }

    @Test func `A name stands behind the number, in quotation marks that it cannot end`() {
        func title(_ name: String?, _ state: DeviceState = .blind) -> String {
            DeviceRow(device: 7, fingerprint: nil, state: state, name: name).title
        }
        #expect(title("Phone") == "Device 7, “Phone”" && title(nil) == "Device 7" && title("“”") == "Device 7")
        #expect(title("This device") == "Device 7, “This device”")
        #expect(title("x”, Verified, “y") == "Device 7, “x, Verified, y”")
        #expect(title("Balcony", .this) == "This device, “Balcony”")
        #expect(
            DeviceRow(device: nil, fingerprint: nil, state: .distrusted, name: nil).title == "A key without a device")
    }

    @Test func `A decision that is made is not offered, and only an own device is removed`() throws {
        #expect(try device(.verified).actions == [.trust, .distrust])
        #expect(try device(.blind).actions == [.verify, .distrust])
        #expect(try device(.undecided).actions == [.verify, .trust, .distrust])
        #expect(try device(.distrusted, isOwn: true).actions == [.verify, .trust, .remove])
        #expect(try device(.verified, isListed: false, isOwn: true).actions == [.trust, .distrust])
        #expect(try device(.this, isOwn: true).actions == [.name])
    }

    @Test func `A decision is one on the key, and a removal one on the device`() throws {
        let device = try device(.undecided, isOwn: true)
        let trust = try #require(device.intent(.trust, on: key) as? TrustKey)
        #expect(trust.trust == .blind && trust.fingerprint == device.fingerprint?.hex)
        #expect(trust.jid.description == key.jid)
        #expect((device.intent(.distrust, on: key) as? TrustKey)?.trust == .distrusted)
        #expect((device.intent(.remove, on: key) as? RemoveDevice)?.device == 7)
        #expect(device.intent(.verify, on: key) == nil)
    }
}

@Suite struct CodeOutcomeTests {
    private func page(_ rows: [DeviceRow] = [], isOwn: Bool = false) throws -> DevicesPage {
        try DevicesPage(
            key: isOwn ? ConversationKey(account: key.account, jid: key.account) : key, name: "Juliet", rows: rows,
            code: "xmpp:romeo@example.org?omemo-sid-1=" + fingerprint("f").hex, fingerprint: fingerprint("f"))
    }

    private func code(_ address: String, _ digit: Character, device: UInt32 = 7) throws -> String {
        try "xmpp:\(address)?omemo-sid-\(device)=" + fingerprint(digit).hex
    }

    private func row(_ digit: Character, device: UInt32 = 7) throws -> DeviceRow {
        try DeviceRow(device: device, fingerprint: fingerprint(digit), state: .blind)
    }

    @Test func `A code with the keys that are here, or with keys not met yet, verifies them`() throws {
        let text = try code("juliet@example.org", "a")
        for rows in try [[row("a")], [], [row("b", device: 8)]] {
            #expect(try CodeOutcome(text, for: page(rows)) == .verifies(uri: text, count: 1))
        }
        let two = try text + ";omemo-sid-8=" + fingerprint("b").hex
        #expect(try CodeOutcome(two, for: page()).words("Juliet") == "Verified: 2 devices of Juliet")
        // As it is pasted from a letter.
        #expect(try CodeOutcome(" " + text + "\n", for: page()) == .verifies(uri: text, count: 1))
    }

    @Test func `Another key under the same device is a warning, whatever else is in the code`() throws {
        let text = try code("juliet@example.org", "a") + ";omemo-sid-8=" + fingerprint("b").hex
        let outcome = try CodeOutcome(text, for: page([row("a"), row("c", device: 8)]))
        #expect(outcome == .otherKey(8) && outcome.isProblem)
        #expect(outcome.words("Juliet").hasPrefix("Device 8 of Juliet has another key here than in the code"))
    }

    @Test func `A code of somebody else, of this device, or none is said in words, and verifies nothing`() throws {
        let other = try CodeOutcome(code("paris@example.org", "a"), for: page([row("a")]))
        #expect(other == .otherAddress("paris@example.org"))
        #expect(
            other.words("Juliet") == "This code belongs to paris@example.org, not to Juliet. Nothing was verified")
        #expect(try CodeOutcome(code("romeo@example.org", "f", device: 1), for: page(isOwn: true)) == .thisDevice)
        let short = try code("juliet@example.org", "a").dropLast()
        for text in ["", "xmpp:juliet@example.org", "https://example.org", String(short)] {
            #expect(try CodeOutcome(text, for: page()) == .noCode)
        }
    }

    @Test func `Of several codes in a picture a warning counts first, then what verifies`() throws {
        let (good, bad) = try (code("juliet@example.org", "a"), code("juliet@example.org", "b"))
        let page = try page([row("a")])
        #expect(CodeOutcome([good, bad], for: page) == .otherKey(7))
        #expect(CodeOutcome(["https://example.org", good], for: page) == .verifies(uri: good, count: 1))
        #expect(CodeOutcome([String](), for: page) == .noCode)
    }

    @Test func `The list says what it means, and why it is empty`() throws {
        #expect(try page().notice.hasPrefix("No device of Juliet with keys"))
        #expect(try page([row("a")]).notice.hasPrefix("Messages go to all these devices"))
        let verified = DeviceRow(device: 7, fingerprint: try fingerprint("a"), state: .verified)
        #expect(try page([verified]).notice.hasPrefix("A new device receives nothing"))
        let nothing = DevicesPage(key: key, name: "Juliet", rows: [], code: nil, fingerprint: nil)
        #expect(nothing.notice.hasPrefix("This device has no keys yet") && nothing.title == "Devices of Juliet")
    }
}

@Suite struct MarkTests {
    private func message(_ id: Int64, at: Int64, _ protection: Protection? = nil) -> MessageRow {
        var row = MessageRow(id: id, author: "You", isOwn: true, text: "Good night", at: at, state: .delivered)
        row.protection = protection
        return row
    }

    private func line(_ at: Int64, _ state: DeviceState = .blind, jid: String = "juliet@x") -> KeyLine {
        KeyLine(jid: jid, name: "Juliet", isOwn: false, state: state, at: at)
    }

    @Test func `A mark is a part of the row's name and of the line under the text`() {
        var row = message(1, at: 1, .verified)
        #expect(row.spoken("19:15") == "You, 19:15: Good night. Delivered. Encrypted, verified")
        row.leftOut = 1
        #expect(row.foot("19:15") == "19:15  ·  Delivered  ·  Encrypted, verified  ·  1 device cannot read it")
        #expect(message(1, at: 1).spoken("19:15") == "You, 19:15: Good night. Delivered")
    }

    @Test func `What was not encrypted is marked so; what is not stored yet is encrypted when it leaves`() {
        let marked = [message(1, at: 1), message(2, at: 1, .encrypted), message(-1, at: 1)].map { row in
            var row = row
            row.markPlain()
            return row.protection
        }
        #expect(marked == [.plain, .encrypted, nil])
    }

    @Test func `Each mark has its own words, and a meaning`() {
        let words = Words.marksTable
        #expect(Set(words.map(\.mark)).count == words.count && words.allSatisfy { !$0.meaning.isEmpty })
        #expect(Protection.allCases.filter(\.isProblem) == [.undecided, .distrusted, .plain])
    }

    @Test func `New devices are a line where their keys were met, several at once as one`() {
        var page = Page()
        page.messages = [message(1, at: 10), message(2, at: 20), message(3, at: 30)]
        page.lines = [line(15), line(16), line(17, jid: "nurse@x"), line(40, .undecided)]
        let rows = Thread.rows(page, firstUnread: nil, isGroup: false)
        let words = rows.compactMap { if case .keys(let line) = $0 { line.words } else { nil } }
        #expect(
            words == [
                "2 new devices of Juliet, not verified", "New device of Juliet, not verified",
                "New device of Juliet, not verified: nothing is sent there until you decide",
            ])
        #expect(rows.firstIndex { if case .keys = $0 { true } else { false } } == 2)
        #expect(rows.last == .keys(line(40, .undecided)))
    }

    @Test func `A line of an earlier or a later part is in no place, and a clock set back repeats none`() {
        var page = Page()
        page.messages = [message(1, at: 50), message(2, at: 30), message(3, at: 70)]
        (page.hasOlder, page.hasNewer) = (true, true)
        page.lines = [line(5), line(60), line(99)]
        #expect(page.placedLines == [2: [line(60)]])
        (page.hasOlder, page.hasNewer) = (false, false)
        #expect(page.placedLines == [0: [line(5)], 2: [line(60)], 3: [line(99)]])
        page.lines = [line(40)]
        #expect(page.placedLines == [0: [line(40)]])
    }

    @Test func `A new device is announced once`() {
        var (before, now) = (Page(), Page())
        before.lines = [line(5)]
        now.lines = [line(5), line(9, .undecided)]
        #expect(
            now.changes(since: before) == [
                "New device of Juliet, not verified: nothing is sent there until you decide"
            ])
        #expect(now.changes(since: now).isEmpty)
    }
}

@Suite struct UndecidedKeysTests {
    private let juliet = JID.received("juliet@example.org")
    private let romeo = JID.received("romeo@example.org")

    private func key(
        _ jid: JID, _ device: UInt32?, _ digit: String?, _ trust: KeyTrust?, isListed: Bool = true, seen: Int64? = 15
    ) -> DeviceKey {
        DeviceKey(
            jid: jid, device: device, fingerprint: digit.flatMap { Fingerprint(String(repeating: $0, count: 64)) },
            trust: trust, isListed: isListed, firstSeenAt: seen)
    }

    private func undecided(_ keys: [DeviceKey]) -> UndecidedKeys? {
        let all = ConversationKeys(isEncrypted: true, isBlocked: false, keys: keys)
        return UndecidedKeys(all.undecided, of: romeo.description) { $0 == juliet ? "Juliet" : $0.description }
    }

    @Test func `The question names whose devices are new, and the decision is about each of them`() throws {
        let keys = try #require(
            undecided([
                key(juliet, 1, "a", .verified), key(juliet, 2, "b", .undecided), key(juliet, 3, "c", .undecided),
                key(romeo, 4, "d", .undecided),
            ]))
        #expect(keys.words == "2 new devices of Juliet, New device of your account")
        #expect(keys.first == ConversationKey(account: "romeo@example.org", jid: "juliet@example.org"))
        let intents = keys.intents(.blind)
        #expect(intents.map(\.jid) == [juliet, juliet, romeo] && intents.allSatisfy { $0.trust == .blind })
        #expect(intents.map { $0.fingerprint.prefix(1) } == ["b", "c", "d"])
    }

    @Test func `There is no question about decided keys, devices no longer in use, and devices without a key`() {
        #expect(undecided([]) == nil)
        #expect(
            undecided([
                key(juliet, 1, "a", .verified), key(juliet, 2, "b", .distrusted), key(juliet, 3, "c", .blind),
                key(juliet, 4, "d", .undecided, isListed: false), key(juliet, 5, nil, nil),
            ]) == nil)
    }

    private func page(_ times: [Int64], _ keys: ConversationKeys) -> Page {
        var page = Page()
        page.messages = times.map { MessageRow(id: $0, author: "You", isOwn: true, text: "Good night", at: $0) }
        page.show(keys, of: romeo.description) { $0 == juliet ? "Juliet" : $0.description }
        return page
    }

    @Test func `Keys of a conversation are lines where they were met, and mark what is not encrypted`() {
        let keys = [
            key(romeo, 4, "d", .verified, seen: 25), key(juliet, 2, "b", .undecided, seen: 15),
            key(juliet, nil, "c", .verified, seen: 16), key(juliet, 3, "e", .blind, seen: nil),
        ]
        let page = page([10, 20, 30], ConversationKeys(isEncrypted: true, isBlocked: false, keys: keys))
        #expect(page.isEncrypted && page.messages.map(\.protection) == [.plain, .plain, .plain])
        #expect(
            page.lines == [
                KeyLine(jid: "juliet@example.org", name: "Juliet", isOwn: false, state: .undecided, at: 15),
                KeyLine(jid: "romeo@example.org", name: "", isOwn: true, state: .verified, at: 25),
            ])
    }

    @Test func `A conversation that is not encrypted has neither lines nor marks`() {
        let keys = [key(juliet, 2, "b", .undecided)]
        let page = page([10], ConversationKeys(isEncrypted: false, isBlocked: false, keys: keys))
        #expect(!page.isEncrypted && page.lines.isEmpty && page.messages[0].protection == nil)
    }
}

@Suite struct EncryptionActionTests {
    @Test func `Encryption is begun or ended, and both are offered when the other side no longer wants it`() {
        let actions = ContactAction.encryption(isOn: true, isWaiting: true)
        #expect(actions == [.encrypt(true), .encrypt(false)])
        #expect(ContactAction.encryption(isOn: true, isWaiting: false) == [.encrypt(false)])
        #expect(ContactAction.encryption(isOn: false, isWaiting: false) == [.encrypt(true)])
        #expect(ContactAction.encrypt(false).isDestructive && !ContactAction.encrypt(true).isDestructive)
        #expect(
            ContactAction.all(isContact: true, isBlocked: false, actions).prefix(4)
                == [.rename, .devices, .encrypt(true), .encrypt(false)])
    }

    @Test func `Who has no keys is said once the servers have answered, in a conversation and in a group`() {
        let (nurse, paris) = (JID.received("nurse@x"), JID.received("paris@x"))
        let outcome = { (keyless: [JID], isKeyless: Bool, pending: [JID], isGroup: Bool) in
            EncryptionOutcome(
                ConversationKeys(
                    isEncrypted: true, isBlocked: false, keys: [], keyless: keyless, isKeyless: isKeyless,
                    pending: pending), isGroup: isGroup, name: "Nurse"
            ) { $0.local ?? "" }
        }
        #expect(outcome([], false, [nurse], false) == .pending && outcome([paris], false, [nurse], true) == .pending)
        #expect(outcome([], false, [], false) == .done)
        #expect(outcome([nurse], true, [], false) == .keyless(Words.cannotBeEncrypted("Nurse")))
        #expect(outcome([nurse, paris], true, [], true) == .keyless(Words.nobodyCanBeEncrypted))
        #expect(
            outcome([nurse, paris], false, [], true)
                == .keyless("Your messages are encrypted. Have no keys yet, and cannot read them: nurse, paris"))
        #expect(Words.encryption(nil) == "Your messages are not encrypted")
        #expect(Words.encryption(.pending) == "Your messages are encrypted")
    }
}
