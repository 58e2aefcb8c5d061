import KalijXML
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What is shown of a message is a function of the set of stored messages, and not of their order of arrival.
struct OperationOrderTests {
    /// Stanzas in the order of the archive, and what is shown of them.
    struct Scene: Sendable, CustomTestStringConvertible {
        let name: String
        let stanzas: [String]
        let shown: [String]
        var testDescription: String { name }
    }

    static let scenes = [
        Scene(
            name: "a correction, a reaction and a second correction",
            stanzas: [
                OperationStanza.text("one", id: "m1"), OperationStanza.correction(of: "m1", "two", id: "c1"),
                OperationStanza.reaction(to: "m1", "👍", id: "r1"),
                OperationStanza.correction(of: "m1", "three", id: "c2"),
            ],
            shown: ["in three (edited) [romeo@example.net 👍]"]),
        Scene(
            name: "a correction of a correction",
            stanzas: [
                OperationStanza.text("one", id: "m1"), OperationStanza.correction(of: "m1", "two", id: "c1"),
                OperationStanza.correction(of: "c1", "three", id: "c2"),
                OperationStanza.correction(of: "c2", "four", id: "c3"),
            ],
            shown: ["in four (edited)"]),
        Scene(
            name: "a retraction beats a later correction",
            stanzas: [
                OperationStanza.text("one", id: "m1"), OperationStanza.retraction(of: "m1", id: "x1"),
                OperationStanza.correction(of: "m1", "two", id: "c1"), OperationStanza.text("else", id: "m2"),
            ],
            shown: ["in (retracted)", "in else"]),
        Scene(
            name: "the last reactions of each author count; no emoji means none",
            stanzas: [
                OperationStanza.text("one", id: "m1"), OperationStanza.reaction(to: "m1", "👍", "🌹", id: "r1"),
                OperationStanza.own(OperationStanza.reaction(to: "m1", "🎉", id: "r2")),
                OperationStanza.reaction(to: "m1", id: "r3"),
                OperationStanza.own(OperationStanza.reaction(to: "m1", "🎉", "👍", id: "r4")),
            ],
            shown: ["in one [juliet@example.org 🎉 👍]"]),
        Scene(
            name: "a reaction to a corrected message by the correction's id",
            stanzas: [
                OperationStanza.text("one", id: "m1"), OperationStanza.correction(of: "m1", "two", id: "c1"),
                OperationStanza.reaction(to: "c1", "👍", id: "r1"),
            ],
            shown: ["in two (edited) [romeo@example.net 👍]"]),
        Scene(
            name: "others neither correct nor retract, whoever's id is named",
            stanzas: [
                OperationStanza.text("one", id: "m1"), OperationStanza.own(OperationStanza.text("mine", id: "m2")),
                OperationStanza.retraction(of: "m2", id: "x1"),
                OperationStanza.own(OperationStanza.retraction(of: "m1", id: "x2")),
            ],
            shown: ["in one", "out mine"]),
        Scene(
            name: "a correction of another's message is a line of its own",
            stanzas: [
                OperationStanza.text("one", id: "m1"),
                OperationStanza.own(OperationStanza.correction(of: "m1", "else", id: "c1")),
            ],
            shown: ["in one", "out else (corrects m1)"]),
        Scene(
            name: "the two sides use the same id",
            stanzas: [
                OperationStanza.text("one", id: "m1"), OperationStanza.own(OperationStanza.text("two", id: "m1")),
                OperationStanza.retraction(of: "m1", id: "x1"),
                OperationStanza.own(OperationStanza.correction(of: "m1", "three", id: "c1")),
            ],
            shown: ["in (retracted)", "out three (edited)"]),
        Scene(
            name: "an id that is used twice means the newest message before",
            stanzas: [
                OperationStanza.text("one", id: "m1"), OperationStanza.correction(of: "m1", "first", id: "c1"),
                OperationStanza.text("two", id: "m1"), OperationStanza.correction(of: "m1", "second", id: "c2"),
            ],
            shown: ["in first (edited)", "in second (edited)"]),
        Scene(
            name: "a correction of a message that never comes is a line of its own",
            stanzas: [
                OperationStanza.text("one", id: "m1"), OperationStanza.correction(of: "gone", "new", id: "c1"),
                OperationStanza.correction(of: "c1", "newer", id: "c2"),
            ],
            shown: ["in one", "in new (corrects gone)", "in newer (corrects c1)"]),
        Scene(
            name: "a retraction erases the waiting corrections of an unknown message",
            stanzas: [
                OperationStanza.text("one", id: "m1"), OperationStanza.correction(of: "gone", "new", id: "c1"),
                OperationStanza.correction(of: "c1", "newer", id: "c2"),
                OperationStanza.retraction(of: "gone", id: "x1"),
                OperationStanza.own(OperationStanza.correction(of: "gone", "mine", id: "c3")),
            ],
            shown: ["in one", "out mine (corrects gone)"]),
    ]

    @Test("live in any order, then from the archive: the same is shown", arguments: scenes)
    func anyOrder(_ scene: Scene) throws {
        // The long form plays all orders of four, and some of more.
        let orders = Self.permutations(Array(scene.stanzas.indices))
        let step = max(1, orders.count / (RandomInput.isLong ? 24 : 4))
        for order in stride(from: 0, to: orders.count, by: step).map({ orders[$0] }) + [orders[orders.count - 1]] {
            let harness = try StepHarness.caughtUp()
            for index in order { try harness.receive(OperationStanza.stamped(scene.stanzas[index], "a\(index)")) }
            try Self.read(scene, harness)
            let records = try harness.records()
            #expect(records == scene.shown, "\(order)")
        }
    }

    @Test("some live and some never: from the archive alone, in its order and read again and again", arguments: scenes)
    func archive(_ scene: Scene) throws {
        let harness = try StepHarness.caughtUp()
        try Self.read(scene, harness)
        #expect(try harness.records() == scene.shown)
        let events = try harness.number("SELECT max(number) FROM event")
        for _ in 0..<3 { try Self.read(scene, harness) }
        #expect(try harness.records() == scene.shown)
        #expect(try harness.number("SELECT max(number) FROM event") == events, "nothing is told twice")
    }

    @Test("the operations come before their targets, which are in a gap that is filled later", arguments: scenes)
    func gap(_ scene: Scene) throws {
        for first in scene.stanzas.indices {
            let harness = try StepHarness.reading()
            for index in first..<scene.stanzas.count {
                try harness.receive(try harness.result("a\(index)", xml: scene.stanzas[index]))
            }
            try harness.answerPage(last: "a\(scene.stanzas.count - 1)", complete: true)
            try harness.answerPage(complete: true)
            _ = try harness.want(older: 100)
            for index in 0..<first {
                try harness.receive(try harness.result("a\(index)", of: "filling", xml: scene.stanzas[index]))
            }
            guard first > 0 else { continue }
            try harness.fin("filled", first: "a0", last: "a\(max(0, first - 1))", complete: true)
            let records = try harness.records()
            #expect(records == scene.shown, "from \(first) on")
        }
    }

    @Test("a message that was retracted keeps its place if the archive has erased it: ejabberd 24.12 does")
    func erased() throws {
        let harness = try StepHarness.caughtUp()
        let stanzas = [
            OperationStanza.text("one", id: "m1"), OperationStanza.text("two", id: "m2"),
            OperationStanza.retraction(of: "m2", id: "x1"), OperationStanza.text("three", id: "m3"),
            OperationStanza.text("four", id: "m4"),
        ]
        for index in [0, 1, 2, 4] { try harness.receive(OperationStanza.stamped(stanzas[index], "a\(index)")) }
        _ = try harness.steps.readArchive()
        for index in [0, 2, 3, 4] {
            try harness.receive(try harness.result("a\(index)", at: "2026-11-21T12:00:00Z", xml: stanzas[index]))
        }
        try harness.answerPage(last: "a4", complete: true)
        #expect(try harness.records() == ["in one", "in (retracted)", "in three", "in four"])
    }

    private static func read(_ scene: Scene, _ harness: StepHarness) throws {
        _ = try harness.steps.readArchive()
        let asked = try #require(try harness.asked().first)
        let first = asked.hasPrefix("after a") ? try #require(Int(asked.dropFirst("after a".count))) + 1 : 0
        for (index, stanza) in scene.stanzas.enumerated().dropFirst(first) {
            try harness.receive(try harness.result("a\(index)", at: "2026-11-21T12:00:00Z", xml: stanza))
        }
        try harness.fin("page", first: "a\(first)", last: "a\(scene.stanzas.count - 1)", complete: true)
        while try harness.database.prepare("SELECT 1 FROM catchup WHERE phase <> 'done'").first([], { _ in true })
            ?? false
        {
            try harness.answerPage(complete: true)
        }
    }

    private static func permutations(_ items: [Int]) -> [[Int]] {
        guard items.count > 1 else { return [items] }
        return items.indices.flatMap { index in
            var rest = items
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }
}

/// Stanzas from romeo to juliet.
enum OperationStanza {
    static func message(_ content: String, id: String) -> String {
        "<message from='romeo@example.net/orchard' to='juliet@example.org' type='chat' id='\(id)'>\(content)</message>"
    }

    static func text(_ body: String, id: String) -> String { message("<body>\(body)</body>", id: id) }

    static func correction(of target: String, _ body: String, id: String) -> String {
        message("<body>\(body)</body><replace xmlns='urn:xmpp:message-correct:0' id='\(target)'/>", id: id)
    }

    static func retraction(of target: String, id: String) -> String {
        message(
            """
            <retract xmlns='urn:xmpp:message-retract:1' id='\(target)'/><fallback xmlns='urn:xmpp:fallback:0'/>\
            <body>retracted, but you cannot see that</body>
            """, id: id)
    }

    static func reaction(to target: String, _ emoji: String..., id: String) -> String {
        let list = emoji.map { "<reaction>\($0)</reaction>" }.joined()
        return message("<reactions xmlns='urn:xmpp:reactions:0' id='\(target)'>\(list)</reactions>", id: id)
    }

    /// The same from another client of juliet's.
    static func own(_ stanza: String) -> String {
        stanza.replacing(
            "from='romeo@example.net/orchard' to='juliet@example.org'",
            with: "from='juliet@example.org/phone' to='romeo@example.net'")
    }

    /// As delivered live: an incoming message itself, an outgoing message as a copy (XEP-0280).
    static func stamped(_ stanza: String, _ id: String) -> String {
        let stamped = stanza.replacing(
            "</message>", with: "<stanza-id xmlns='urn:xmpp:sid:0' by='juliet@example.org' id='\(id)'/></message>")
        guard stanza.contains("from='juliet@example.org/phone'") else { return stamped }
        return """
            <message from='juliet@example.org'><sent xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'>\
            \(StepHarness.inClient(stamped))</forwarded></sent></message>
            """
    }
}

extension StepHarness {
    /// What `kalij history` shows: `in text (edited) [author emoji]`.
    func records() throws -> [String] {
        try HistoryReader(database).messages(of: account, with: nil, limit: 1000).map { message in
            var words = message.direction.rawValue
            words += message.erasure.map { " (\($0.rawValue))" } ?? " \(message.body ?? "-")"
            if message.editedAt != nil { words += " (edited)" }
            if let corrects = message.corrects { words += " (corrects \(corrects))" }
            let reactions = message.reactions.map { "\($0.author) \($0.emoji.joined(separator: " "))" }
            return reactions.isEmpty ? words : words + " [\(reactions.joined(separator: ", "))]"
        }
    }
}
