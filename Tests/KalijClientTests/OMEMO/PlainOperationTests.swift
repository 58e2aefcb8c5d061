import KalijAddress
import KalijRatchet
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What anybody on the way can have written does nothing to what was encrypted, and is shown as what it is.
struct PlainOperationTests {
    /// Romeo's key is verified, and he has said `secret` as `m1`.
    private func ready(_ dialect: OMEMOVersion = .axolotl) throws -> (StepHarness, SealedPeer) {
        let harness = try StepHarness.caughtUp()
        try harness.publishKeys(dialect == .axolotl ? [.axolotl] : [.axolotl, .omemo2])
        let peer = try SealedPeer(device: 8, dialect)
        try peer.begin(harness)
        try harness.receive(
            peer.message(sealed("<body xmlns='jabber:client'>secret</body>", "secret", peer), harness, id: "m1"))
        try trust(.verified, peer, harness)
        return (harness, peer)
    }

    private func trust(_ trust: KeyTrust, _ peer: SealedPeer, _ harness: StepHarness) throws {
        _ = try harness.runner.run("test", for: harness.account) { step in
            try TrustStore(step: step).set(trust, peer.identity.publicIdentity.key.bytes, of: .received(peer.jid))
        }
    }

    /// What is encrypted: in 2 the content of an envelope, in 0.3 a text.
    private func sealed(_ content: String, _ text: String, _ peer: SealedPeer) -> String {
        guard peer.dialect == .omemo2 else { return text }
        return """
            <envelope xmlns='urn:xmpp:sce:1'><content>\(content)</content><from jid='romeo@example.net'/><rpad>abc</rpad>\
            </envelope>
            """
    }

    private func retract(_ id: String) -> String {
        "<retract xmlns='urn:xmpp:message-retract:1' id='\(id)'/>"
    }

    private func react(_ id: String, _ emoji: String) -> String {
        "<reactions xmlns='urn:xmpp:reactions:0' id='\(id)'><reaction>\(emoji)</reaction></reactions>"
    }

    private func history(_ harness: StepHarness) throws -> [Message] {
        try HistoryReader(harness.database).messages(of: harness.account, with: nil, limit: 99)
    }

    private func perform(_ intent: some Intent, _ harness: StepHarness, id: String = "i1") throws -> IntentOutcome {
        var outcome = IntentOutcome.pending
        _ = try harness.runner.run("application", for: harness.account) { step in
            outcome = try Intents(step: step).perform(intent, id: id)
        }
        return outcome
    }

    /// Romeo's server answers all questions for lists, and everything that can leave then leaves.
    private func messages(_ harness: StepHarness, _ peer: SealedPeer) throws -> [Element] {
        var messages: [Element] = []
        while case let stanzas = try harness.leave(), !stanzas.isEmpty {
            messages += stanzas.filter { $0.name == "message" && $0["to"] == peer.jid }
            for stanza in stanzas {
                let node = stanza.child("pubsub", "http://jabber.org/protocol/pubsub")?.child("items")?["node"]
                guard let dialect = OMEMOVersion.allCases.first(where: { $0.listNode == node }), let id = stanza["id"]
                else {
                    continue
                }
                let list = DeviceList(dialect == peer.dialect ? [8] : []).element(dialect)
                try harness.receive(
                    """
                    <iq type='result' id='\(id)' from='\(peer.jid)'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
                    <items node='\(dialect.listNode)'><item id='current'>\(list.xml())</item></items></pubsub></iq>
                    """)
            }
        }
        return messages
    }

    private func outcome(_ id: String, _ harness: StepHarness) throws -> IntentOutcome? {
        try HistoryReader(harness.database).outcome(of: id, by: harness.account)
    }

    // MARK: What comes in plain

    @Test(
        "plain retractions and reactions in the contact's name: the text stays, and they are shown as plain",
        arguments: [true, false])
    func plain(isFirst: Bool) throws {
        let (harness, peer) = try ready()
        let message = try peer.message("second", harness, id: "m2")
        let forged = [
            OperationStanza.retraction(of: "m2", id: "x1"), OperationStanza.reaction(to: "m2", "👎", id: "x2"),
        ]
        for stanza in isFirst ? forged + [message] : [message] + forged { try harness.receive(stanza) }
        let shown = try #require(try history(harness).first { $0.messageID == "m2" })
        #expect(shown.body == "second" && shown.erasure == nil && shown.isRetractedInPlain)
        #expect(shown.reactions == [Reaction(author: "romeo@example.net", emoji: ["👎"], isPlain: true)])
        let json = shown.fields.map(\.key.name)
        #expect(json.contains("plain_retraction") && json.contains("plain_reactions") && !json.contains("reactions"))
    }

    @Test("copies of the account's own server, in the account's name: the user's encrypted texts stay")
    func carbons() throws {
        let (harness, peer) = try ready()
        try harness.accept("mine")
        let id = try #require(try messages(harness, peer).last?["id"])
        try harness.receive(
            OperationStanza.stamped(OperationStanza.own(OperationStanza.retraction(of: id, id: "x1")), "a1"))
        try harness.receive(
            OperationStanza.stamped(OperationStanza.own(OperationStanza.reaction(to: "m1", "👎", id: "x2")), "a2"))
        try harness.receive(
            OperationStanza.stamped(OperationStanza.own(OperationStanza.correction(of: id, "no", id: "x3")), "a3"))
        try harness.receive(OperationStanza.stamped(OperationStanza.own(OperationStanza.text("plain", id: "x4")), "a4"))
        let shown = try history(harness)
        #expect(shown.map(\.body) == ["secret", "mine", "no", "plain"])
        #expect(shown[0].reactions.map(\.isPlain) == [true] && shown[1].isRetractedInPlain)
        #expect(shown.map { $0.encryption?.isPlain } == [false, false, true, true])
    }

    @Test("0.3: plain children beside the encrypted body have no effect: the line is whole, without a file")
    func beside() throws {
        let (harness, peer) = try ready()
        let parts = [
            retract("m1"), react("m1", "👎"),
            "<apply-to xmlns='urn:xmpp:fasten:0' id='m1'><retract xmlns='urn:xmpp:message-retract:0'/></apply-to>",
            """
            <reply xmlns='urn:xmpp:reply:0' id='m1'/><fallback xmlns='urn:xmpp:fallback:0' for='urn:xmpp:reply:0'>\
            <body start='0' end='7'/></fallback>
            """,
            """
            <file-sharing xmlns='urn:xmpp:sfs:0'><sources><url-data xmlns='http://jabber.org/protocol/url-data' \
            target='https://evil.example/x'/></sources></file-sharing>
            """,
        ]
        for (number, part) in parts.enumerated() {
            let stanza = try peer.message("do not go \(number)", harness, id: "b\(number)")
            try harness.receive(stanza.replacing("</message>", with: part + "</message>"))
        }
        let shown = try history(harness)
        #expect(shown.map(\.body) == ["secret"] + parts.indices.map { "do not go \($0)" })
        #expect(shown.allSatisfy { $0.reactions.isEmpty && !$0.isRetractedInPlain && $0.file == nil })
        // A quote that looks like one is not shown.
        let answer = try peer.message("> mine\nyes", harness)
        try harness.receive(answer.replacing("</message>", with: parts[3] + "</message>"))
        #expect(try history(harness).last?.body == "yes")
    }

    @Test("plain operations without a target take no room from those that a key proves")
    func waiting() throws {
        let (harness, peer) = try ready()
        let stanza = try peer.message("corrected", harness, id: "c1")
        try harness.receive(
            stanza.replacing("</message>", with: "<replace xmlns='urn:xmpp:message-correct:0' id='m9'/></message>"))
        for number in 0..<130 { try harness.receive(OperationStanza.retraction(of: "gone\(number)", id: "x\(number)")) }
        try harness.receive(OperationStanza.retraction(of: "m9", id: "x"))
        #expect(try harness.number("SELECT count(*) FROM operation WHERE target IS NULL") == 101)
        #expect(try harness.records() == ["in secret", "in corrected (corrects m9)"])
        try harness.receive(peer.message("original", harness, id: "m9"))
        #expect(try harness.records() == ["in secret", "in corrected (edited)"])
        // Nor on a message.
        for number in 0..<130 { try harness.receive(OperationStanza.reaction(to: "m9", "👎", id: "r\(number)")) }
        #expect(try history(harness).last?.reactions.map(\.isPlain) == [true])
    }

    @Test("an opt-out in plain blocks nothing; the user is told")
    func optOut() throws {
        let (harness, _) = try ready()
        let effects = try harness.receive(OperationStanza.message("<opt-out xmlns='urn:xmpp:omemo:2'/>", id: "o"))
        #expect(effects.told.contains { $0.contains("nothing changes") }, "\(effects.told)")
        #expect(
            try !ConversationEncryption(database: harness.database, account: harness.account.id).isBlocked(
                "romeo@example.net"))
    }

    // MARK: What a key proves

    @Test("0.3: a retraction whose encrypted text names the message counts, and no other text makes one")
    func sealedRetraction() throws {
        let (harness, peer) = try ready()
        let text = MessageOperation.sealedText(ofRetraction: "m1")
        for (id, part) in [("r1", retract("m2")), ("r2", retract("m1") + react("m1", "👍"))] {
            let stanza = try peer.message(text, harness, id: id)
            try harness.receive(stanza.replacing("</message>", with: part + "</message>"))
            #expect(try harness.records().first == "in secret")
        }
        let stanza = try peer.message(text, harness, id: "r3")
        try harness.receive(stanza.replacing("</message>", with: retract("m1") + "</message>"))
        #expect(try harness.records().first == "in (retracted)")
        #expect(try harness.number("SELECT count(*) FROM message WHERE body = 'secret'") == 0)
    }

    @Test("2: operations in an envelope count, more than plain ones; under an undecided key they do not")
    func envelopes() throws {
        let (harness, peer) = try ready(.omemo2)
        try harness.receive(peer.message(sealed(react("m1", "👍"), "", peer), harness))
        try harness.receive(OperationStanza.reaction(to: "m1", "👎", id: "x1"))
        #expect(try harness.records() == ["in secret [romeo@example.net 👍]"])
        let other = try SealedPeer(device: 9, .omemo2)
        try other.begin(harness)
        let content = retract("m1") + "<body xmlns='jabber:client'>retracted</body>"
        try harness.receive(other.message(sealed(content, "", other), harness))
        let shown = try #require(try history(harness).first)
        #expect(shown.body == "secret" && shown.isRetractedInPlain)
        // Whoever has written under a key retracts it under the same key.
        try harness.receive(
            other.message(sealed("<body xmlns='jabber:client'>other</body>", "", other), harness, id: "m2"))
        try harness.receive(
            other.message(sealed(content.replacing("m1", with: "m2"), "", other), harness))
        #expect(try harness.records().last == "in (retracted)")
        try harness.receive(peer.message(sealed(content, "", peer), harness))
        #expect(try harness.records().first?.hasPrefix("in (retracted)") ?? false)
    }

    // MARK: The user's

    @Test("0.3: the user's retraction is encrypted, and its text proves it; reactions are refused")
    func ownRetraction() throws {
        let (harness, peer) = try ready()
        let message = try harness.accept("mine")
        _ = try messages(harness, peer).map { try peer.read($0) }
        let refusal = "reactions cannot be encrypted (OMEMO 0.3), so none are sent in an encrypted conversation"
        _ = try perform(React(.row(message.id), ["👍"]), harness, id: "i0")
        #expect(try outcome("i0", harness) == .failed(refusal))
        #expect(try perform(Retract(.row(message.id)), harness) == .pending)
        #expect(try harness.records().last == "out (retracted)")
        let stanza = try #require(try messages(harness, peer).first)
        let id = try #require(message.originID)
        #expect(stanza.child("retract", MessageOperation.retraction)?["id"] == id)
        #expect(try peer.read(stanza) == MessageOperation.sealedText(ofRetraction: id))
        #expect(!stanza.xml().contains(MessageOperation.sealedText(ofRetraction: id)))
    }

    @Test("2: the user's retraction and reactions leave in an envelope alone")
    func ownEnvelopes() throws {
        let (harness, peer) = try ready(.omemo2)
        let message = try harness.accept("mine")
        _ = try messages(harness, peer).map { try peer.read($0) }
        #expect(try perform(React(.row(1), ["👍"]), harness, id: "i0") == .pending)
        #expect(try perform(Retract(.row(message.id)), harness) == .pending)
        let stanzas = try messages(harness, peer)
        #expect(stanzas.count == 2 && !stanzas.contains { $0.children.contains(where: Envelope.isSecret) })
        let contents = try stanzas.map { try #require(try peer.envelope($0).child("content")) }
        #expect(contents.first?.child("reactions", MessageOperation.reactions)?["id"] == "m1")
        #expect(contents.last?.child("retract", MessageOperation.retraction)?["id"] == message.originID)
        #expect(try harness.records() == ["in secret [juliet@example.org 👍]", "out (retracted)"])
    }

    @Test("2: a contact whose devices read 0.3 alone gets no reaction, and the user is told why")
    func reactionsIn03() throws {
        let (harness, peer) = try ready(.omemo2)
        #expect(try perform(React(.row(1), ["👍"]), harness, id: "i0") == .pending)
        _ = try harness.leave()
        try harness.answer("list", node: OMEMOVersion.omemo2.listNode, DeviceList([]).element(.omemo2))
        #expect(try !harness.leave().contains { $0.name == "message" && $0["to"] == peer.jid })
        guard case .failed(let reason) = try outcome("i0", harness) else {
            Issue.record("nothing has failed")
            return
        }
        #expect(reason.hasPrefix("reactions can be encrypted in OMEMO 2 alone"))
        #expect(try harness.records() == ["in secret"])
    }

    @Test("the user's own operations count here, also in plain")
    func ownPlain() throws {
        let (harness, peer) = try ready()
        let message = try harness.accept("mine")
        _ = try messages(harness, peer)
        _ = try harness.runner.run("test", for: harness.account) {
            try ConversationEncryption(step: $0).set(false, for: peer.jid)
        }
        _ = try perform(React(.row(1), ["👍"]), harness, id: "i0")
        _ = try perform(Retract(.row(message.id)), harness)
        #expect(try harness.records() == ["in secret [juliet@example.org 👍]", "out (retracted)"])
        #expect(try history(harness).first?.reactions.map(\.isPlain) == [false])
    }
}
