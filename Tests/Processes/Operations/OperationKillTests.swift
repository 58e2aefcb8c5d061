import Foundation
import Glibc
import KalijLab
import Testing

/// Corrections, retractions and reactions of both sides under kills. An independent client has the last word: what the client has
/// sent is what is shown here, and what was accepted here has reached the client once.
@Suite(.serialized) struct OperationKillTests {
    /// `OPERATION_KILLS=1000` gives the long form.
    private let kills = Int(ProcessInfo.processInfo.environment["OPERATION_KILLS"] ?? "") ?? 40

    @Test(
        "a client is killed again and again while both sides correct, retract and react: none lost, doubled or misplaced",
        arguments: [ServerKind.prosody, .ejabberd])
    func killed(_ kind: ServerKind) async throws {
        let random = RandomChoices("operations")
        let world = try await World(kind)
        defer { world.close() }
        try await world.online()
        let chat = try await world.peer("bob").chat(
            with: "alice@localhost", label: "question", rate: 12, originIDs: true, operations: true)
        var accepted: [String: Set<String>] = ["correction": [], "retraction": [], "reaction": []]
        var texts: [String] = []
        for number in 0..<kills {
            let run = try world.kalij.running()
            let text = "answer-\(number)"
            #expect(try world.kalij("send", "bob@localhost", text, "--id", text, "--queue-only").status == 0)
            texts.append(text)
            let target = texts[max(0, texts.count - random.number(1...5))]
            let (operation, words) = try #require(
                random.one(of: [
                    ("correction", ["correct", target, "corrected \(number)"]), ("reaction", ["react", target, "👍"]),
                    ("reaction", ["react", target]), ("retraction", ["retract", target]),
                ]))
            let result = try world.kalij.run(["--json"] + words + ["--queue-only"])
            #expect(result.status == 0, "\(result)")
            let id = try #require(try result.objects().first?["origin_id"] as? String)
            accepted[operation]?.insert(id)
            try await Task.sleep(for: random.milliseconds(30...700))
            run.process.signal(SIGKILL)
            run.process.ended(within: 10)
        }
        _ = try await chat.stopSending()
        let run = try world.kalij.running()
        let expected = Expected(try chat.events())
        var shown: [String: Record] = [:]
        let isSame = try await until(60, every: 200) {
            shown = try Record.all(try world.kalij("--json", "history", "bob@localhost", "--limit", "100000"))
            return expected.differences(from: shown).isEmpty
        }
        #expect(isSame, "\(expected.differences(from: shown).prefix(5))")
        try await check(accepted, at: chat, in: world)
        #expect(run.end(SIGTERM).status == 0)
        await chat.quit()
    }

    /// Each accepted operation has reached the other side once, unless it was refused here: of a message that was retracted.
    private func check(_ accepted: [String: Set<String>], at chat: Chat, in world: World) async throws {
        let failed = Set(
            try await world.sql("SELECT id FROM intent WHERE problem <> ''").split(separator: "\n").map(String.init))
        var came: [String: [String]] = [:]
        let isThere = try await until(60, every: 200) {
            came = Dictionary(grouping: try chat.events().filter { $0.event == "operated" }) { $0.kind ?? "" }
                .mapValues { $0.compactMap(\.id) }
            return accepted.allSatisfy { kind, ids in Set(came[kind] ?? []).isSuperset(of: ids.subtracting(failed)) }
        }
        try await Task.sleep(for: .seconds(2))
        let all = accepted.values.reduce(0) { $0 + $1.count }
        print("operations: \(kills) kills, \(all) accepted, \(failed.count) refused here as their messages were gone")
        #expect(isThere)
        for (kind, ids) in accepted {
            #expect((came[kind] ?? []).sorted() == ids.subtracting(failed).sorted(), "\(kind)")
        }
    }
}

/// A message as `kalij history --json` shows it.
private struct Record: Decodable, Equatable {
    let id: String
    let body: String?
    let retracted: Bool
    let reactions: String

    private enum CodingKeys: String, CodingKey { case originID = "origin_id", body, retracted, reactions }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        id = try object.decodeIfPresent(String.self, forKey: .originID) ?? ""
        body = try object.decodeIfPresent(String.self, forKey: .body)
        retracted = try object.decodeIfPresent(Bool.self, forKey: .retracted) ?? false
        reactions =
            try object.decodeIfPresent([String: [String]].self, forKey: .reactions)?["bob@localhost"]?
            .joined(separator: " ") ?? ""
    }

    static func all(_ outcome: Kalij.Outcome) throws -> [String: Record] {
        let records = try outcome.lines.map {
            try JSONDecoder().decode(Record.self, from: Data($0.utf8))
        }
        return Dictionary(records.map { ($0.id, $0) }) { $1 }
    }
}

/// What has to be shown, by the reports of the other side in the order of sending.
private struct Expected {
    private var bodies: [String: String] = [:]
    private var retracted: Set<String> = []
    private var reactions: [String: String] = [:]

    init(_ events: [PeerEvent]) {
        for event in events {
            switch (event.event, event.kind) {
            case ("sent", _): if let id = event.id, let number = event.number { bodies[id] = "question \(number)" }
            case ("operation", "correction"): if let target = event.target { bodies[target] = event.body }
            case ("operation", "retraction"): if let target = event.target { retracted.insert(target) }
            case ("operation", "reaction"): if let target = event.target { reactions[target] = event.body ?? "" }
            default: break
            }
        }
    }

    func differences(from shown: [String: Record]) -> [String] {
        let texts = bodies.compactMap { id, body -> String? in
            let record = shown[id]
            let isRight =
                retracted.contains(id) ? record?.retracted == true && record?.body == nil : record?.body == body
            return isRight ? nil : "\(id) is \(record.map { "\($0)" } ?? "missing"), not \(body)"
        }
        return texts
            + reactions.compactMap { id, emoji in
                guard let record = shown[id] else { return "\(id) is missing" }
                return record.retracted || record.reactions == emoji ? nil : "\(record) has not \(emoji)"
            }
    }
}
