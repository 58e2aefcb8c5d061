import KalijRatchet
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Encrypted messages that come.
struct MessageDecryptorTests {
    private func ready() throws -> (StepHarness, SealedPeer) {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        let peer = try SealedPeer()
        try peer.begin(harness)
        return (harness, peer)
    }

    @Test(
        "a first message is read; its prekey leaves the bundle in the same step, and the conversation is encrypted from then on"
    )
    func first() throws {
        let (harness, peer) = try ready()
        try harness.receive(peer.message("But soft", harness))
        #expect(try harness.history() == ["in But soft"])
        #expect(try harness.number("SELECT count(*) FROM omemo_prekey WHERE used = 0") == 99)
        #expect(
            try ConversationEncryption(database: harness.database, account: harness.account.id).isEncrypted(
                "romeo@example.net"))
        let message = try #require(
            MessageReader(database: harness.database, account: harness.account.id).newest(1, with: nil).first)
        #expect(message.message.encryption?.device == 7)
        #expect(message.message.encryption?.trust == .blind)
        #expect(message.message.encryption?.fingerprint == Fingerprint(peer.identity.publicIdentity.key).hex)
    }

    @Test(
        "two devices have chosen the same prekey: both are read, neither session sends; a day later the prekey is forgotten"
    )
    func samePrekey() throws {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        let peers = [try SealedPeer(), try SealedPeer(device: 8)]
        for peer in peers { try peer.begin(harness, prekey: 41) }
        for peer in peers { try harness.receive(peer.message("of \(peer.device)", harness)) }
        #expect(try harness.history() == ["in of 7", "in of 8"])
        #expect(try harness.number("SELECT count(*) FROM omemo_session") == 2)
        #expect(try harness.number("SELECT count(*) FROM omemo_session WHERE sends = 1") == 0)
        #expect(try harness.number("SELECT count(*) FROM omemo_prekey WHERE used > 0") == 1)
        for (time, left) in [(-3_600_000, 1), (86_399_000, 1), (2000, 0)] as [(Int64, Int64)] {
            harness.clock.move(by: time)
            _ = try harness.runner.run("test", for: harness.account) { try EncryptionReadiness(step: $0).archiveRead() }
            #expect(try harness.number("SELECT count(*) FROM omemo_prekey WHERE used > 0") == left)
        }
    }

    @Test("the same content again, with whatever ids and from whatever source: one row, read once")
    func again() throws {
        let (harness, peer) = try ready()
        let message = try peer.message("once", harness, id: "a")
        try harness.receive(message)
        let ratchets = try harness.text("SELECT hex(data) FROM omemo_session")
        for id in ["b", "c"] { try harness.receive(message.replacing("id='a'", with: "id='\(id)'")) }
        try harness.receive(
            message.replacing(
                "</message>", with: "<stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='9'/></message>"))
        #expect(try harness.history() == ["in once"])
        #expect(try harness.text("SELECT hex(data) FROM omemo_session") == ratchets)
    }

    @Test("a changed key or payload changes nothing: the message is shown as unreadable, and its true form mends it")
    func changed() throws {
        let (harness, peer) = try ready()
        try harness.receive(peer.message("before", harness))
        let before = try harness.text("SELECT hex(data) FROM omemo_session")
        let kept = try #require(peer.session)
        try harness.receive(peer.message("changed key", harness, damaging: .key))
        #expect(try harness.text("SELECT hex(data) FROM omemo_session") == before)
        let whole = try peer.message("changed payload", harness, id: "p")
        let start = try #require(whole.range(of: "<payload>")?.upperBound)
        let end = try #require(whole.range(of: "</payload>")?.lowerBound)
        try harness.receive(whole.replacingCharacters(in: start..<end, with: "AAAAAAAAAAAAAAAAAAAAAAAAAAAA"))
        #expect(try harness.text("SELECT hex(data) FROM omemo_session") == before)
        #expect(try harness.problems() == [nil, "mac", "mac"])
        try harness.receive(whole.replacing("id='p'", with: "id='q'"))
        #expect(try harness.history() == ["in before", "in -", "in changed payload"])
        #expect(try harness.problems() == [nil, "mac", nil])
        withExtendedLifetime(kept) {}
    }

    @Test("empty messages are no lines; they move the ratchet, and get no answer")
    func empty() throws {
        let (harness, peer) = try ready()
        try harness.subscribe("romeo@example.net")
        try harness.receive(peer.message(nil, harness))
        #expect(try harness.history() == [])
        #expect(try harness.leave().allSatisfy { $0.name != "message" })
        try harness.receive(peer.message("text", harness))
        #expect(try harness.history() == ["in text"])
    }

    @Test("a first message of somebody known is answered by an empty message; a stranger's is not")
    func answered() throws {
        let (harness, peer) = try ready()
        try harness.receive(peer.message("who are you?", harness))
        #expect(try harness.leave().allSatisfy { $0.name != "message" })
        let (other, friend) = try ready()
        try other.subscribe("romeo@example.net")
        try other.receive(friend.message("it is me", other))
        let answers = try other.leave().filter { $0.name == "message" }
        #expect(answers.count == 1)
        #expect(try answers.first.map { try friend.read($0) } == .some(nil))
        #expect(answers.first?.child("encryption", "urn:xmpp:eme:0") == nil && answers.first?.child("store") == nil)
        #expect(answers.first?.child("store", "urn:xmpp:hints") != nil)
        // The session is answered: the next messages need no answer, though they have a new ratchet key.
        try other.receive(friend.message("good", other))
        try other.receive(friend.message("bye", other))
        #expect(try other.leave().allSatisfy { $0.name != "message" })
        #expect(try other.history() == ["in it is me", "in good", "in bye"])
    }

    @Test("a key exchange without a prekey, with a used one, or with an unknown one begins no session")
    func badExchanges() throws {
        let (harness, peer) = try ready()
        let first = try peer.message("first", harness)
        let session = try #require(peer.session)
        try harness.receive(first)
        // A copy of the prekey in another session: the prekey is gone.
        let other = try SealedPeer("paris@example.net", device: 8)
        try other.begin(harness)
        try harness.database.execute("DELETE FROM omemo_prekey")
        try harness.receive(other.message("too late", harness))
        #expect(try harness.problems() == [nil, "key-gone"])
        #expect(try harness.number("SELECT count(*) FROM omemo_session") == 1)
        withExtendedLifetime(session) {}
    }

    @Test("a device that shows this device's own key, or a key that another address has, is not used")
    func copied() throws {
        let (harness, peer) = try ready()
        try harness.receive(peer.message("mine", harness))
        _ = try harness.runner.run("test", for: harness.account) { step in
            let list = try DeviceLists(step: step, dialect: .axolotl).make(.received("paris@example.net"))
            let device = try #require(try PeerDevices(step: step).make(9, in: list, isListed: true))
            let trust = try TrustStore(step: step).met(peer.identity.publicIdentity.key, of: device)
            #expect(trust == .undecided)
        }
    }

    @Test("20 strangers of a domain begin a session in an hour; the next are read later")
    func strangers() throws {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        for number in 0..<22 {
            let peer = try SealedPeer("s\(number)@spam.example", device: UInt32(number + 1))
            try peer.begin(harness)
            try harness.receive(peer.message("text \(number)", harness))
        }
        #expect(try harness.history().count == 20)
        #expect(try harness.number("SELECT count(*) FROM omemo_aside") == 2)
        harness.clock.move(by: 3_600_001)
        while let effects = try harness.steps.due() { _ = effects }
        #expect(try harness.history().count == 22)
        #expect(try harness.number("SELECT count(*) FROM omemo_aside") == 0)
    }

    @Test(
        "too many missing messages: at most 1,000 keys are kept, and what is further is too far; nothing of it is derived"
    )
    func tooFar() throws {
        let (harness, peer) = try ready()
        try harness.receive(peer.message("first", harness))
        for _ in 0..<1001 { _ = try peer.message("lost", harness) }
        let far = try peer.message("far", harness)
        try harness.receive(far)
        #expect(try harness.problems() == [nil, "too-far"])
        #expect(try harness.number("SELECT count(*) FROM omemo_kept") == 0)
    }

    @Test("the session with the newest message sends, however this machine's clock is set")
    func clock() throws {
        let (harness, peer) = try ready()
        func isNewest() throws -> Bool {
            try harness.number("SELECT id FROM omemo_session WHERE sends ORDER BY place DESC, id DESC")
                == harness.number("SELECT max(id) FROM omemo_session")
        }
        for error in [0, -3_600_000, 7_200_000, -7_200_000] as [Int64] {
            harness.clock.set(by: error)
            harness.clock.move(by: 1000)
            try peer.begin(harness)
            try harness.receive(peer.message("live \(error)", harness))
            #expect(try isNewest(), "\(error)")
        }
        harness.clock.set(by: 10_800_000)
        harness.clock.move(by: 60_000)
        _ = try harness.steps.readArchive()
        try peer.begin(harness)
        try harness.receive(
            try harness.archived("b1", peer.message("from the archive", harness), at: "2026-11-21T12:00:30Z"))
        #expect(try isNewest(), "by the stamps, and the clock was fast")
        try peer.begin(harness)
        try harness.receive(
            try harness.archived("b0", peer.message("earlier", harness), at: "2026-11-21T11:00:00Z"))
        #expect(try !isNewest())
    }

    @Test("while the archive is read, a message after a gap waits in its place; then everything is read")
    func aside() throws {
        let harness = try StepHarness.reading()
        try harness.publishKeys()
        let peer = try SealedPeer()
        try peer.begin(harness)
        let texts = (0..<150).map { "text \($0)" }
        let stanzas = try texts.map { try peer.message($0, harness) }
        let archived = try stanzas.dropLast().enumerated().map { try harness.archived("\($0 + 1)", $1) }
        try harness.receive(archived[0])
        try harness.receive(stanzas[149])
        #expect(try harness.history() == ["in text 0"])
        #expect(try harness.number("SELECT count(*) FROM omemo_aside") == 1)
        for result in archived.dropFirst() { try harness.receive(result) }
        try harness.answerPage(last: "149", complete: true)
        try harness.answerPage(last: "149", complete: true)
        while let effects = try harness.steps.due() { _ = effects }
        let history = try harness.history()
        #expect(history == texts.map { "in " + $0 }, "\(history.suffix(3)), \(history.count)")
        #expect(try harness.problems().allSatisfy { $0 == nil })
    }

    @Test(
        "malformed messages are data: counted, shown as unreadable, and nothing changes",
        arguments: [
            "<encrypted xmlns='eu.siacs.conversations.axolotl'/>",
            "<encrypted xmlns='eu.siacs.conversations.axolotl'><header sid='0'/></encrypted>",
            "<encrypted xmlns='eu.siacs.conversations.axolotl'><header sid='7'><key rid='1234'>!</key></header><payload>AA</payload></encrypted>",
            "<encrypted xmlns='eu.siacs.conversations.axolotl'><header sid='7'><key rid='1234'>MwohBQ==</key></header><payload>AA==</payload></encrypted>",
            "<encrypted xmlns='eu.siacs.conversations.axolotl'><header sid='7'><key rid='1234' prekey='true'>Mwg=</key></header><payload>AA==</payload></encrypted>",
            "<encrypted xmlns='eu.siacs.conversations.axolotl'><header sid='99999999999'/></encrypted>",
        ])
    func malformed(_ element: String) throws {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys()
        try harness.receive(
            "<message from='romeo@example.net/x' type='chat' id='m'>\(element)<body>excuse</body></message>")
        #expect(try harness.history() == ["in -"])
        let problem = try harness.problems().first ?? nil
        #expect(problem == "malformed" || problem == "not-for-us" || problem == "key-gone")
        #expect(try harness.number("SELECT count(*) FROM omemo_session") == 0)
    }
}
