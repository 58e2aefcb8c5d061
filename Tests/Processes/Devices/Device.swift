import Foundation
import Glibc
import KalijLab
import Synchronization
import Testing

/// A directory of alice's account: a device whose `kalij run` is killed again and again, while the user does anything.
actor Device {
    nonisolated let kalij: Kalij
    private let random: RandomChoices
    private let shared: SharedTexts
    private let name: String
    /// The ids of texts and operations for bob that this device has accepted, in order.
    private(set) var accepted: [String] = []
    private(set) var (kills, losses) = (0, 0)
    private var texts = 0

    /// A session without a connection ends after so many seconds.
    static let patience = 3
    static let correspondents = ["bob", "carol", "dave"]
    static let strangers = ["erin", "frank", "grace"]

    init(_ name: String, data: String, server: any XMPPServer, shared: SharedTexts, random: RandomChoices) throws {
        (self.name, self.shared, self.random) = (name, shared, random)
        kalij = try Kalij(data: data)
        #expect(try kalij.login(server).status == 0)
    }

    /// The process is killed so many times, at random moments. Now and then the session is lost, too.
    /// - Parameter sessionEnds: waits for the end of the session of a directory.
    func live(kills: Int, sessionEnds: @Sendable (Kalij) async throws -> Void) async throws {
        while self.kills < kills {
            let run = try kalij.running()
            for _ in 0..<random.number(1...4) {
                try act()
                try await sleep(for: random.milliseconds(20...250))
            }
            run.process.signal(SIGKILL)
            run.process.ended()
            self.kills += 1
            if self.kills == 2 || random.number(1...12) == 1 {
                losses += 1
                try await sessionEnds(kalij)
            }
        }
    }

    /// The user does anything.
    private func act() throws {
        let (contact, stranger) = (random.one(of: Self.correspondents) ?? "", random.one(of: Self.strangers) ?? "")
        switch random.number(1...12) {
        case 1...3: try send(to: contact)
        case 4...7: try change()
        case 8...9: try share(["read", contact + "@localhost"], mayBeEmpty: true)
        case 10:
            let number = random.number(1...9)
            try share(["add", stranger + "@localhost", "--name", "\(name) \(number)", "--group", "Group \(number % 3)"])
        case 11: try share(["remove", stranger + "@localhost"])
        default: try share([random.flip() ? "block" : "unblock", stranger + "@localhost"])
        }
    }

    func send(to contact: String) throws {
        texts += 1
        let id = "\(name)-\(texts)"
        try share(["send", contact + "@localhost", id, "--id", id])
        guard contact == "bob" else { return }
        accepted.append(id)
        shared.add(id, mine: true)
    }

    /// Changes a message of either device, or reacts to a message of bob's. The message may not be here yet.
    private func change() throws {
        let emoji = random.one(of: [["👍"], ["❤️", "🎉"], []]) ?? []
        guard let target = random.one(of: shared.last(12, mine: random.number(1...3) > 1)) else { return }
        let operations =
            shared.isMine(target)
            ? [["correct", target, "corrected by \(name)"], ["react", target] + emoji, ["retract", target]]
            : [["react", target] + emoji]
        guard let words = random.one(of: operations) else { return }
        let result = try share(words)
        accepted.append(try #require(try result.objects().first?["origin_id"] as? String))
    }

    /// - Parameter mayBeEmpty: whether there may be nothing to do.
    @discardableResult
    private func share(_ words: [String], mayBeEmpty: Bool = false) throws -> Kalij.Outcome {
        let result = try kalij.run(["--json"] + words + ["--queue-only"])
        #expect(result.status == 0 || mayBeEmpty && result.status == 1, "\(words): \(result)")
        return result
    }

    // MARK: The end

    /// All that is the same on each device of an account: what is told of conversations, messages, contacts. Rows and
    /// times are the directory's own, and the sender's client of the account's messages.
    /// - Parameter withRetracted: whether messages that were retracted count; the last message of a conversation may be one.
    nonisolated func view(withRetracted: Bool) throws -> [String] {
        let chats = try kalij("--json", "chats").objects().map { chat in
            let last = try withRetracted ? Self.line(chat["last"] as? [String: Any] ?? [:]) : ""
            return "chat \(chat["conversation"] ?? "") \(chat["unread"] ?? "") \(last)"
        }
        let texts = try Self.correspondents.flatMap { contact in
            try kalij("--json", "history", contact + "@localhost", "--limit", "1000000").objects()
                .filter { withRetracted || $0["retracted"] == nil }.map(Self.line)
        }
        let contacts = try kalij("--json", "roster").objects().map(Self.line)
        let blocked = try kalij("--json", "roster", "--blocked").objects().map(Self.line)
        return chats + texts + contacts + blocked
    }

    private static func line(_ object: [String: Any]) throws -> String {
        let own =
            ["id", "at", "sent_at", "edited", "clients"] + (object["direction"] as? String == "out" ? ["from"] : [])
        let record = object.filter { !own.contains($0.key) }
            .merging(object["edited"].map { _ in ["edited": true] } ?? [:]) { $1 }
        let data = try JSONSerialization.data(withJSONObject: record, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }
}

/// The texts of a conversation that both devices may name.
final class SharedTexts: Sendable {
    private let texts = Mutex<[(id: String, isMine: Bool)]>([])

    func add(_ id: String, mine isMine: Bool) { texts.withLock { $0.append((id, isMine)) } }
    func last(_ count: Int, mine isMine: Bool) -> [String] {
        texts.withLock { $0.filter { $0.isMine == isMine }.map(\.id).suffix(count) }
    }
    func isMine(_ id: String) -> Bool { texts.withLock { $0.contains { $0.id == id && $0.isMine } } }
}
