import FoundationEssentials
import Glibc
import KalijAddress
import KalijRatchet
import KalijStore
import KalijXML

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

// sealed: what encryption adds to the step of a message that comes, beside a plain message in the same run; and the longest steps.
// CPU time of the steps alone, the best of several rounds in turn. Exit status 1 above a bound.

let count = Int(getenv("SEALED_COUNT").map { String(cString: $0) } ?? "") ?? 1000
let rounds = 5

func cpuMicroseconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
}

func id() -> String { UUID().uuidString }

func rounded(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

/// A device of somebody's, and its session with the account's device.
struct Peer {
    let jid: String
    let device: UInt32
    private let identity: Identity
    private var session: Session

    init(_ jid: String, _ device: UInt32, _ bundle: BundleElement) throws {
        (self.jid, self.device) = (jid, device)
        identity = try Self.identity()
        session = try Session.begin(identity, bundle.chosen(.axolotl), .axolotl)
    }

    private static func identity() throws -> Identity {
        while true { if let identity = try? Identity(seed: .random(32)) { return identity } }
    }

    mutating func message(_ id: String, _ receiver: UInt32) throws -> Element {
        let payload = try Payload(Array("hello".utf8), .axolotl)
        let (bytes, isExchange) = try session.seal(payload.content)
        let key = EncryptedElement.Key(device: receiver, isExchange: isExchange, bytes: bytes)
        let element = EncryptedElement.element(payload, from: device, [("juliet@example.org", [key])], .axolotl)
        let message = try Element.parse(World.plain(jid, id))
        message.add(element)
        return try Element.parse(message.bytes())
    }

    mutating func read(_ bytes: [UInt8]) throws {
        session = try session.open(RatchetMessage(bytes, .axolotl)) { _ in nil }.session
    }
}

final class World {
    let runner: StepRunner
    let account: Account
    let steps: SessionSteps
    private let path: String
    private(set) var device: UInt32 = 0

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/kalij-bench-\(UUID().uuidString)"
        let directory = AccountDirectory(path)
        let driven = try directory.drive(role: .main, now: 0)
        try AccountTable(driven.database).store(
            jid: try JID("juliet@example.org"), server: ServerSettings(),
            login: SuccessfulLogin(mechanism: .plain, keys: nil, password: "secret"), resource: "x")
        account = try AccountTable(driven.database).account(nil, in: directory)
        runner = StepRunner(
            database: driven.database, fence: driven.fence, barrier: Barrier(driven.database), clock: .system,
            features: try Features([]))
        steps = SessionSteps(runner: runner, account: account)
        try step { step in
            try OwnDevice.make(OwnDevice.newID(besides: []), in: step)
            try KeyPublicationRow.make(account.id, .axolotl, in: step.database)
            device = try OwnDevice.id(of: account.id, in: step.database) ?? 0
            try OwnDevice.set(isRead: true, in: step)
            try OwnDevice.set(isOpen: true, in: step)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    static func plain(_ jid: String, _ id: String) -> String {
        """
        <message xmlns='jabber:client' from='\(jid)/x' type='chat' id='\(id)'><body>hello</body>\
        <origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/></message>
        """
    }

    func step(_ body: (Step) throws -> Void) throws { _ = try runner.run("benchmark", for: account, body) }

    /// The bundle of the account's device, with fresh prekeys.
    func bundle() throws -> BundleElement? {
        var bundle: BundleElement?
        try step { step in
            bundle = try OwnDevice.load(account.id, from: step.database).map {
                try OwnKeys(step: step, dialect: .axolotl).bundle($0.identity)
            }
        }
        return bundle
    }

    /// A peer whose first message was read.
    func peer(_ jid: String, _ device: UInt32) throws -> Peer {
        guard let bundle = try bundle() else { throw RatchetError.malformed("there is no device") }
        var peer = try Peer(jid, device, bundle)
        try receive(peer.message("first-\(jid)-\(device)", self.device))
        return peer
    }

    /// - Returns: the CPU time, in microseconds.
    @discardableResult
    func receive(_ message: Element) throws -> Double {
        let start = cpuMicroseconds()
        _ = try steps.handle(message, count: nil)
        return cpuMicroseconds() - start
    }

    /// The account answers in the session: the next message of the peer has a new ratchet key.
    func answer(_ peer: inout Peer) throws {
        var sealed: [UInt8] = []
        try step { step in
            guard let device = try target(peer, step), var row = try RatchetSessions(step: step).sending(device) else {
                return
            }
            sealed = try row.session.seal(Payload(emptyIn: .axolotl).content).bytes
            try RatchetSessions(step: step).save(row.session, in: row.id, place: nil)
        }
        try peer.read(sealed)
    }

    func target(_ peer: Peer, _ step: Step) throws -> PeerDevice? {
        let list = try DeviceLists(step: step, dialect: .axolotl).list(of: JID(peer.jid))
        return try list.flatMap { try PeerDevices(step: step).device(peer.device, of: $0) }
    }

    func read(_ sql: String) throws -> Int64 {
        try runner.database.prepare(sql).first { $0.integer() } ?? 0
    }

    /// Pages in the write-ahead log.
    func pages() throws -> Double {
        var status = stat()
        guard stat(runner.database.path + "-wal", &status) == 0 else { return .nan }
        return Double(max(0, status.st_size - 32)) / 4120
    }
}

/// The mean CPU time of `count` messages, in microseconds.
func mean(_ world: World, _ next: (Int) throws -> Element) throws -> Double {
    var total = 0.0
    for number in 0..<count { total += try world.receive(next(number)) }
    return total / Double(count)
}

func pages(_ world: World, _ next: (Int) throws -> Element) throws -> Double {
    _ = try world.read("PRAGMA wal_checkpoint(TRUNCATE)")
    for number in 0..<50 { try world.receive(next(number)) }
    return try world.pages() / 50
}

let world = try World()
// Contacts: strangers may begin only some sessions in an hour, and get no answers.
for name in ["romeo", "mercutio", "benvolio"] + (0..<6).map({ "member\($0)" }) {
    let item = "<item jid='\(name)@example.net' subscription='both'/>"
    let push = "<iq xmlns='jabber:client' type='set' id='\(name)'><query xmlns='jabber:iq:roster'>\(item)</query></iq>"
    try world.receive(Element.parse(push))
}
var (chain, turning) = (try world.peer("romeo@example.net", 1), try world.peer("mercutio@example.net", 2))
// The session is answered: the peer has stopped to send the key exchange.
try world.answer(&chain)
try world.receive(chain.message(id(), world.device))
var best = (plain: Double.infinity, chain: Double.infinity, turn: Double.infinity)
for _ in 0..<rounds {
    best.plain = min(best.plain, try mean(world) { _ in try Element.parse(World.plain("benvolio@example.net", id())) })
    best.chain = min(best.chain, try mean(world) { _ in try chain.message(id(), world.device) })
    best.turn = min(
        best.turn,
        try mean(world) { _ in
            try world.answer(&turning)
            return try turning.message(id(), world.device)
        })
}
let plainPages = try pages(world) { _ in try Element.parse(World.plain("benvolio@example.net", id())) }
let chainPages = try pages(world) { _ in try chain.message(id(), world.device) }

var skipping = 0.0
for _ in 0..<rounds {
    for _ in 0..<1000 { _ = try chain.message(id(), world.device) }
    skipping = max(skipping, try world.receive(chain.message(id(), world.device)) / 1000)
}

// No answers: the sessions have not sent yet, so each needs a new ratchet key.
try world.step { step in try OwnDevice.set(isOpen: false, in: step) }
var many: [Peer] = []
for number in 0..<330 { many.append(try world.peer("member\(number % 6)@example.net", UInt32(100 + number))) }
var turned = 0.0
try world.step { step in
    guard let own = try OwnDevice.load(world.account.id, from: step.database) else { return }
    let start = cpuMicroseconds()
    var targets = try many.compactMap { peer -> Recipients.Target? in
        guard let device = try world.target(peer, step), let row = try RatchetSessions(step: step).sending(device)
        else { return nil }
        return Recipients.Target(device: device, row: row)
    }
    let payload = try Payload(Array("hello".utf8), .axolotl)
    _ = try MessageEncryptor(step: step, own: own).seal(payload, for: &targets)
    for target in targets { try RatchetSessions(step: step).save(target.row.session, in: target.row.id, place: nil) }
    turned = (cpuMicroseconds() - start) / 1000
    guard targets.count == 330 else { throw RatchetError.malformed("only \(targets.count) sessions") }
}

let unread = try world.read("SELECT count(*) FROM message WHERE shown = 1 AND body IS NULL")
let ratios = (chain: best.chain / best.plain, turn: best.turn / best.plain)
print("a plain message's step:                       \(rounded(best.plain)) us")
print(
    "an encrypted message's, in a chain:           \(rounded(best.chain)) us, \(rounded(ratios.chain)) times (at most 2)"
)
print(
    "an encrypted message's, with a turn:          \(rounded(best.turn)) us, \(rounded(ratios.turn)) times (at most 7)")
print(
    "pages of the write-ahead log, plain:          \(rounded(plainPages)); encrypted \(rounded(chainPages)) (at most 4 more)"
)
print("a step that skips 1,000 keys:                 \(rounded(skipping)) ms (at most 20)")
print("sealing for 330 devices that have turned:     \(rounded(turned)) ms (at most 100)")
if unread > 0 { print("\(unread) messages could not be read") }
let good =
    ratios.chain <= 2 && ratios.turn <= 7 && chainPages - plainPages <= 4 && skipping <= 20 && turned <= 100
    && unread == 0
exit(good ? 0 : 1)
