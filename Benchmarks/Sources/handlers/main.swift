import FoundationEssentials
import Glibc
import KalijAddress
import KalijHandlers
import KalijStore
import KalijXML

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

// handlers: the cost of a stored handler within a step, next to the same row written and read bare; and the cost of
// waiting handlers for an unrelated step. CPU time, the best of several rounds in turn. Exit status 1 above three times
// the bare row, or if 10,000 waiting handlers cost a step 10 %.

enum Benchmark: Feature {
    static let name = "benchmark"
    static var handlers: [any Handler<Step>.Type] { [Fetched.self] }
}

struct Fetched: Handler {
    static let name = "benchmark.fetched"
    var device: UInt32
    var node: String
    func call(_ reply: IQReply, in step: Step) {}
}

func cpuNanoseconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

final class World {
    let runner: StepRunner
    let account: Account
    let steps: SessionSteps
    private let path: String

    init() throws {
        path = temporaryPath()
        let directory = AccountDirectory(path)
        let driven = try directory.drive(role: .main, now: 0)
        try AccountTable(driven.database).store(
            jid: try JID("juliet@example.org"), server: ServerSettings(),
            login: SuccessfulLogin(mechanism: .plain, keys: nil, password: "secret"), resource: "x")
        account = try AccountTable(driven.database).account(nil, in: directory)
        runner = StepRunner(
            database: driven.database, fence: driven.fence, barrier: Barrier(driven.database),
            clock: .system, features: try Features([Benchmark.self]),
            mark: CrashMarker(path: directory.markPath, fence: driven.fence.owner.number))
        steps = SessionSteps(runner: runner, account: account)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func step(_ body: (Step) throws -> Void) throws { _ = try runner.run("benchmark", for: account, body) }
}

func temporaryPath() -> String { FileManager.default.temporaryDirectory.path + "/kalij-bench-\(UUID().uuidString)" }

let count = 4000
let ids = (0..<count).map { _ in UUID().uuidString.lowercased() }
let answers = try ids.map {
    try Element.parse("<iq xmlns='jabber:client' type='result' id='\($0)' from='a@example.net'/>")
}
let responder = try JID("a@example.net")
let handler = Fetched(device: 4711, node: "eu.siacs.conversations.axolotl.bundles:4711")
let bytes = try StoredHandler(handler).bytes

/// A hundred in each step, so that the step's own cost counts for little.
func inSteps(_ world: World, _ body: (Step, Int) throws -> Void) throws {
    for start in stride(from: 0, to: count, by: 100) {
        try world.step { step in for index in start..<start + 100 { try body(step, index) } }
    }
}

/// The row written and read bare.
func bare(_ world: World) throws {
    try inSteps(world) { step, index in
        try step.database.run(
            "INSERT INTO request(account, id, responder, asked_at, deadline, name, handler) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                .integer(step.account.id), .text(ids[index]), .text("a@example.net"), .integer(step.now),
                .integer(step.now + 60_000), .text("benchmark.fetched"), .blob(bytes),
            ])
    }
    try inSteps(world) { step, index in
        _ = try step.database.statement("DELETE FROM request WHERE account = ? AND id = ? RETURNING handler")
            .first([.integer(step.account.id), .text(ids[index])]) { $0.blob() }
    }
}

/// The same with a stored and called handler.
func stored(_ world: World, _ answers: [Element]) throws {
    try inSteps(world) { step, index in
        let handler = Fetched(device: UInt32(index), node: "eu.siacs.conversations.axolotl.bundles:\(index)")
        try Requests(step: step).register(ids[index], responder: responder, StoredHandler(handler), within: 60_000)
    }
    try inSteps(world) { step, index in try Requests(step: step).answered(by: answers[index]) }
}

/// Steps of ordinary messages.
func messages(_ world: World, _ prefix: String) throws {
    for number in 0..<count {
        let message = try Element.parse(
            """
            <message xmlns='jabber:client' from='romeo@example.net/x' id='\(prefix)\(number)'><body>hello</body>\
            <origin-id xmlns='urn:xmpp:sid:0' id='\(prefix)\(number)'/></message>
            """)
        _ = try world.steps.handle(message, count: nil)
    }
}

func best(_ rounds: Int, _ bodies: [(Int) throws -> Void]) throws -> [Double] {
    var best = bodies.map { _ in Double.infinity }
    for round in 0..<rounds {
        for (index, body) in bodies.enumerated() {
            let start = cpuNanoseconds()
            try body(round)
            best[index] = min(best[index], (cpuNanoseconds() - start) / Double(count) / 1000)
        }
    }
    return best
}

func rounded(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

let (first, second) = (try World(), try World())
let calls = try best(7, [{ _ in try bare(first) }, { _ in try stored(second, answers) }])
let ratio = calls[1] / calls[0]
print("a row written and taken bare:                   \(rounded(calls[0])) us")
print("a handler registered, stored, read and called:  \(rounded(calls[1])) us, \(rounded(ratio)) times (at most 3)")

let (idle, waiting) = (try World(), try World())
try waiting.step { step in
    for number in 0..<10_000 {
        let handler = Fetched(device: UInt32(number), node: "n")
        try Requests(step: step).register(
            "waiting-\(number)", responder: nil, StoredHandler(handler), within: 3_600_000)
    }
}
let steps = try best(7, [{ try messages(idle, "\($0)-") }, { try messages(waiting, "\($0)-") }])
let growth = steps[1] / steps[0] - 1
print("a message's step, nothing waiting:              \(rounded(steps[0])) us")
print(
    "a message's step, 10,000 handlers waiting:      \(rounded(steps[1])) us, \(rounded(growth * 100)) % more (under 10)"
)
exit(ratio <= 3 && growth < 0.1 ? 0 : 1)
