import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// Two directories of one account beside an independent client, all under kills: in the end both show the same.
///
/// `Scripts/long device-kills 200` gives the long form: so many kills of the two devices together, at each server, both at the same time.
@Suite(.serialized) struct DeviceKillTests {
    private static let kills = LongForm.amount("device-kills", short: 8)

    @Test(
        "two devices of an account are killed while both send, change, read, add and block: in the end both show the same"
    )
    func killed() async throws {
        // At the same time: most of the time is waiting.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in LongForm.servers { group.addTask { try await Self.killed(kind) } }
            try await group.waitForAll()
        }
    }

    private static func killed(_ kind: ServerKind) async throws {
        let account = try await SharedAccount(kind)
        defer { account.laboratory.close() }
        try await account.live(kills: kills)
        try await account.settle()
    }
}

/// The two devices and their correspondents.
private struct SharedAccount {
    let laboratory: Laboratory
    private let kind: ServerKind
    private let server: any XMPPServer
    private let devices: [Device]
    private let bob: Chat
    private let others: [Chat]
    private let shared = SharedTexts()
    private let start = Date()
    private let end: SessionEnd

    init(_ kind: ServerKind) async throws {
        let (laboratory, random) = (try Laboratory(), RandomChoices("devices", part: kind == .prosody ? 0 : 1))
        (self.laboratory, self.kind) = (laboratory, kind)
        let users = Device.correspondents + Device.strangers
        let server = try await startedServer(
            kind, in: laboratory, options: ServerOptions(resumeSeconds: Device.patience),
            users: ["alice", "heidi"] + users)
        self.server = server
        let shared = shared
        devices = try ["one", "two"].map { name in
            try Device(name, data: laboratory.path(name), server: server, shared: shared, random: random)
        }
        end = try await SessionEnd("heidi", in: World(laboratory, server, devices[0].kalij))
        for device in devices { try await Self.online(device) }
        func chat(_ user: String, rate: Double, operations: Bool) async throws -> Chat {
            try await Peer(user, password: "secret", server: server, laboratory: laboratory).chat(
                with: "alice@localhost", label: user == "bob" ? "question" : user, rate: rate, originIDs: true,
                receipts: true,
                operations: operations, markers: true, seed: random.number(0...999_999))
        }
        bob = try await chat("bob", rate: 4, operations: true)
        others = [
            try await chat("carol", rate: 1, operations: false), try await chat("dave", rate: 1, operations: false),
        ]
    }

    private static func online(_ device: Device) async throws {
        let run = try device.kalij.running()
        try await run.event("caught_up")
        #expect(run.end(SIGTERM).status == 0)
    }

    func live(kills: Int) async throws {
        // From now on the others may know what alice has got and read.
        for contact in Device.correspondents { try await devices[0].send(to: contact) }
        let watch = Task {
            var known = 0
            while !Task.isCancelled {
                let sent = try bob.events().filter { $0.event == "sent" }.compactMap(\.id)
                for id in sent.dropFirst(known) { shared.add(id, mine: false) }
                known = sent.count
                try await sleep(for: .milliseconds(300))
            }
        }
        defer { watch.cancel() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices {
                group.addTask {
                    try await device.live(kills: kills / 2) { try await end.wait(for: $0, in: laboratory) }
                }
            }
            try await group.waitForAll()
        }
    }

    // MARK: The end

    func settle() async throws {
        for chat in [bob] + others { _ = try await chat.stopSending() }
        // All that waits leaves.
        for device in devices { try await quiet(device) }
        // The archive tells both devices the order in which the messages of both came.
        for device in devices { try await end.wait(for: device.kalij, in: laboratory) }
        let runs = try devices.map { try $0.kalij.running() }
        for run in runs { try await run.event("caught_up") }
        let mayMiss = kind.erasesRetracted
        let isSame = try await until(every: 500) {
            try devices[0].view(withRetracted: !mayMiss) == devices[1].view(withRetracted: !mayMiss)
        }
        let (one, two) = (
            try devices[0].view(withRetracted: !mayMiss), try devices[1].view(withRetracted: !mayMiss)
        )
        let differences = [Set(one).subtracting(two), Set(two).subtracting(one)].map { $0.sorted() }
        #expect(
            isSame,
            "\(kind): \(differences.map(\.count)) differ: \(differences.map { $0.prefix(4).joined(separator: "\n") })")
        for run in runs { #expect(run.end(SIGTERM).status == 0) }
        try await compare()
        try await report(one)
        for chat in [bob] + others { await chat.quit() }
    }

    /// Until nothing is to be sent any more.
    private func quiet(_ device: Device) async throws {
        let run = try device.kalij.running()
        try await run.event("caught_up")
        let isQuiet = try await until(every: 200) {
            try await sql(
                """
                SELECT (SELECT count(*) FROM queue) + (SELECT count(*) FROM message WHERE state IN ('queued', 'sent'))
                    + (SELECT count(*) FROM intent WHERE problem IS NULL)
                """, device) == "0\n"
        }
        #expect(isQuiet, "\(kind)")
        #expect(run.end(SIGTERM).status == 0)
    }

    private func sql(_ text: String, _ device: Device) async throws -> String {
        try await laboratory.run(
            "/usr/bin/sqlite3", ["-batch", "-cmd", ".timeout 10000", device.kalij.data + "/kalij.db", text])
    }

    /// Both devices show what bob's log says, and have the server's contacts.
    private func compare() async throws {
        let books = OperationBooks(try bob.events())
        #expect(books.errors == [])
        // Each of them is shown all the same, as is looked at below.
        #expect(kind.bouncesWhatIsArchived || books.bounced == [])
        for device in devices {
            let records = try MessageRecord.all(
                try device.kalij("--json", "history", "bob@localhost", "--limit", "1000000"))
            let differences = books.differences(from: records, mayMiss: kind.erasesRetracted)
            #expect(differences.isEmpty, "\(kind): \(differences.count), \(differences.prefix(6))")
            // The rows of outcomes are few enough to be kept.
            let refused = try await sql("SELECT id FROM intent WHERE problem <> ''", device).split(separator: "\n").map(
                String.init)
            let accepted = await device.accepted.filter { !refused.contains($0) }
            let heard = books.received.filter { accepted.contains($0) }
            #expect(heard == accepted, "\(kind)")
        }
        #expect(books.owedReceipts(mayMiss: kind.erasesRetracted).subtracting(books.receipts).isEmpty)
        let fresh = try Device(
            "fresh", data: laboratory.path("fresh"), server: server, shared: shared, random: RandomChoices("fresh"))
        let run = try fresh.kalij.running()
        for device in devices {
            let isSame = try await until(every: 100) { try contacts(fresh) == contacts(device) }
            let both = [try contacts(fresh), try contacts(device)]
            #expect(isSame, "\(kind): \(both)")
        }
        #expect(run.end(SIGTERM).status == 0)
    }

    private func contacts(_ device: Device) throws -> [String] {
        try device.kalij("roster").lines.filter { !$0.hasPrefix(" ") } + device.kalij("roster", "--blocked").lines
    }

    private func report(_ view: [String]) async throws {
        let books = OperationBooks(try bob.events())
        var (kills, losses) = (0, 0)
        for device in devices { (kills, losses) = (kills + (await device.kills), losses + (await device.losses)) }
        print(
            """
            devices at \(kind): \(kills) kills, \(losses) lost sessions, \(Int(Date().timeIntervalSince(start))) s; \(view.count) \
            records; bob: \(books.bobs.count) texts, \(books.asking.count) ask, \(books.receipts.count) receipts, \
            \(books.markers.count) markers, \(Set(books.markers).count) different; \(books.changes.count) operations
            """)
    }
}
