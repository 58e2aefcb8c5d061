import KalijStore
import KalijStream
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Rules.md, durability 1: all changes of a stanza are in one transaction. Durability 5: counters are modulo 2^32 and
/// committed with the stanza.
struct StepTests {
    private static let hello = "<message from='romeo@example.net/x' type='chat' id='1'><body>hello</body></message>"

    @Test("a step that throws changes nothing: counter, rows, queue, effects")
    func rolledBack() throws {
        struct Broken: Error {}
        let harness = try StepHarness.caughtUp()
        let before = try harness.dump()
        #expect(throws: Broken.self) {
            _ = try harness.runner.run("stanza", for: harness.account) { step in
                try step.count(HandledCount(99))
                try Dispatcher.handle(try StepHarness.arrival((Self.hello)), in: step)
                try step.send(Element("presence", xmlns: "jabber:client"))
                throw Broken()
            }
        }
        #expect(try harness.dump() == before)
        try harness.receive(Self.hello)
        #expect(try harness.history() == ["in hello"])
    }

    @Test("the handled count is committed with the stanza and turns over at 2^32")
    func counting() throws {
        let harness = try StepHarness.caughtUp()
        try harness.database.execute("UPDATE session SET handled = 4294967294")
        try harness.receive("<presence from='romeo@example.net/x'/>")
        #expect(try harness.steps.load().handled == HandledCount(UInt32.max))
        try harness.receive(Self.hello)
        #expect(try harness.steps.load().handled == .zero)
        #expect(try harness.number("SELECT handled FROM session") == 0)
        #expect(try harness.history() == ["in hello"])
    }

    @Test("a step of an overtaken owner is refused as a whole")
    func staleOwner() throws {
        let harness = try StepHarness.caughtUp()
        try harness.database.execute("UPDATE fence SET number = number + 1")
        let before = try harness.dump()
        #expect(throws: (any Error).self) { try harness.receive(Self.hello) }
        #expect(try harness.dump() == before)
    }

    @Test("a step over 100 ms is told, a step over 1 s is counted")
    func slowSteps() throws {
        let harness = try StepHarness.caughtUp()
        let told = try harness.runner.run("stanza", for: harness.account) { _ in harness.clock.move(by: 1500) }.told
        #expect(told == ["slow step: stanza"])
        #expect(try harness.number("SELECT longest FROM slow_step WHERE kind = 'stanza' AND count = 1") == 1500)
    }

    @Test("the barrier is raised before an acknowledgement, and only after new commits")
    func barrier() throws {
        let harness = try StepHarness.caughtUp()
        try harness.runner.raiseBarrier()
        let raised = try harness.number("SELECT number FROM barrier") ?? 0
        try harness.runner.raiseBarrier()
        #expect(try harness.number("SELECT number FROM barrier") == raised)
        try harness.receive(Self.hello)
        #expect(try harness.number("SELECT number FROM barrier") == raised)
        try harness.runner.raiseBarrier()
        #expect(try harness.number("SELECT number FROM barrier") == raised + 1)
    }

    @Test(
        "nothing that a peer can send makes a step fail, for the server would send it again",
        arguments: [
            "<message/>", "<message from='@' to='///' type='nonsense'><body/></message>",
            "<message from='romeo@example.net'><delay xmlns='urn:xmpp:delay' stamp='+999999999-13-45T99:99:99Z'/><body>x</body></message>",
            "<message from='a@b'><body>x</body><origin-id xmlns='urn:xmpp:sid:0'/><stanza-id xmlns='urn:xmpp:sid:0'/></message>",
            "<message type='error' id='1'/>", "<message type='error' from='a@b' id='1'><error/></message>",
            "<message type='error' from='&#xE000;@b' id=''><error type='x'><nonsense xmlns='urn:x'/></error></message>",
            "<message from='a@b'><result xmlns='urn:xmpp:mam:2'/></message>",
            "<message from='a@b'><result xmlns='urn:xmpp:mam:2' id='1' queryid=''><forwarded xmlns='urn:xmpp:forward:0'/></result></message>",
            "<iq/>", "<iq type='get'/>", "<iq type='set' id='' from=''/>", "<iq type='result'/>",
            "<iq type='error' id='x' from='//'/>", "<iq type='nonsense' id='1'><a xmlns='b'/></iq>",
            "<presence/>", "<presence from='' type='subscribe'/>", "<unknown/>",
        ])
    func anything(_ xml: String) throws {
        for harness in [try StepHarness.caughtUp(), try StepHarness.online()] {
            let before = try harness.steps.load().handled
            try harness.receive(xml)
            #expect(try harness.steps.load().handled == before.advanced())
        }
    }
}
