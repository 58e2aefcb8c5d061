import Foundation
import KalijLab
import TestSupport
import Testing

/// Older history of one conversation under kills: what is fetched is what the archive has, in its order.
///
/// `Scripts/long older-history-kills 300` is the long form: so many kills.
@Suite(.serialized) struct ConversationHistoryKillTests {
    private static let kills = LongForm.amount("older-history-kills", short: 8)

    @Test(
        "`history JID --older N` killed again and again: each archived message of the conversation once, in the archive's order, read, and no other"
    )
    func killed() async throws {
        guard let newer = newerServers(leavingOut: "kills of older history") else { return }
        let conversation = try await FetchedConversation(newer, kills: Self.kills)
        defer { conversation.laboratory.close() }
        try await conversation.run(kills: Self.kills)
        try await conversation.check()
    }
}

/// Alice's conversation with bob, of which everything is older than her login; beside it, one with carol.
private struct FetchedConversation {
    let laboratory: Laboratory
    private let kalij: Kalij
    private let alice: Peer
    /// The texts of bob, in the order of the archive.
    private let texts: [String]
    private let random = RandomChoices("older-history")

    init(_ release: DebianRelease, kills: Int) async throws {
        var options = ServerOptions()
        options.release = release
        laboratory = try Laboratory()
        let lab = laboratory
        let server = try await startedServer(.prosody, in: lab, options: options, users: ["alice", "bob", "carol"])
        alice = Peer("alice", password: "secret", server: server, laboratory: lab)
        // Bursts of both, so that the conversations alternate in the archive.
        let count = max(420, kills * 12)
        for burst in 0..<3 {
            for user in ["bob", "carol"] {
                let numbers = (burst * count / 3)..<((burst + 1) * count / 3)
                try await Peer(user, password: "secret", server: server, laboratory: lab).send(
                    raw: numbers.map { Self.stanza("\(user) \($0)") }.joined())
            }
        }
        let reader = alice
        #expect(try await until { try await reader.archive().count >= 2 * count })
        texts = (0..<count).map { "bob \($0)" }
        // Archives are queried by the second.
        try await sleep(for: .seconds(2))
        kalij = try Kalij(data: lab.path("data"))
        let login = try kalij(
            "login", "alice@localhost", "--server", "127.0.0.1:\(server.port)", "--ca", server.certificateAuthority,
            "--history-days", "0", environment: ["KALIJ_PASSWORD": "secret"])
        #expect(login.status == 0)
    }

    private static func stanza(_ text: String) -> String {
        "<message to='alice@localhost' type='chat' id='\(text)'><body>\(text)</body></message>"
    }

    /// Fetches with and without a driver, each process killed after a random time, until so many were killed and all is fetched.
    func run(kills: Int) async throws {
        let begin = Date()
        var (killed, ended, hits, before, longest) = (0, 0, 0, 0, 400)
        // Kills of processes that have stored a part, too.
        while before < texts.count, killed < kills || hits < 2 {
            let driver = random.number(0...2) == 0 ? try kalij.running() : nil
            let fetch = try kalij.begun(["history", "bob@localhost", "--older", "\(random.number(10...40))"])
            let due = Date().addingTimeInterval(Double(random.number(10...longest)) / 1000)
            _ = await until { !fetch.isRunning || Date() > due }
            let hasEnded = !fetch.isRunning
            for process in [driver, fetch].compactMap({ $0 }) { _ = process.end(SIGKILL) }
            let stored = try books(isWhole: false)
            if hasEnded {
                ended += 1
                longest = max(50, longest * 3 / 4)
            } else {
                killed += 1
                if stored > before { hits += 1 } else { longest += 100 }
            }
            before = stored
        }
        #expect(killed > 0)
        let seconds = Int(Date().timeIntervalSince(begin))
        print(
            "older history: \(killed) kills within \(longest) ms, \(hits) of them after a part was stored; \(ended) ended; \(seconds) s"
        )
        let last = try kalij("history", "bob@localhost", "--older", "100000", "--limit", "1", "--within", "600")
        #expect(last.status == 0, "\(last.errors)")
    }

    /// The end: everything of bob's, nothing of carol's; a later catch-up adds nothing.
    func check() async throws {
        try books(isWhole: true)
        let run = try kalij.running()
        try await run.event("caught_up")
        #expect(run.end(SIGTERM).status == 0)
        try books(isWhole: true)
        let again = try kalij("history", "bob@localhost", "--older", "50", "--limit", "1")
        #expect(again.status == 0 && again.errors.contains("0 older messages fetched"), "\(again.errors)")
        try books(isWhole: true)
    }

    /// What is stored is the newest part of the archive without a hole, each message once; none is unread.
    /// - Returns: how many are stored.
    @discardableResult
    private func books(isWhole: Bool) throws -> Int {
        let records = try kalij("--json", "history", "bob@localhost", "--limit", "100000").objects()
        let stored = records.compactMap { $0["body"] as? String }
        #expect(stored == Array(texts.suffix(stored.count)), "\(stored.count) of \(texts.count)")
        if isWhole {
            #expect(stored == texts)
            let gaps = records.filter { $0["event"] as? String == "gap" }
            #expect(gaps.isEmpty, "\(gaps)")
        }
        let all = try kalij("--json", "history", "--limit", "100000").objects()
        #expect(all.compactMap { $0["body"] as? String } == stored, "messages of others are stored")
        let chats = try kalij("--json", "chats").objects()
        #expect(chats.allSatisfy { $0["unread"] as? Int == 0 }, "\(chats)")
        return stored.count
    }
}
