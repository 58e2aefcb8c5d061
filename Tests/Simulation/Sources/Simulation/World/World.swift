import CSimulatedMachine
import Synchronization

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Time, and the events in time: one after the other, in the order of their time and then of their planning.
final class World {
    /// Microseconds since the world began.
    private(set) var now: Int64 = 0
    var random: Seeded
    var counts = Counts()
    private var heap: [Event] = []
    private var order = 0
    private let time = SharedTime()
    private let report: ((String) -> Void)?

    /// 2026-11-21T12:00:00Z.
    static let begin: Int64 = 1_795_262_400_000

    private struct Event {
        let time: Int64
        let order: Int
        let body: () -> Void
    }

    init(seed: UInt64, trace: ((String) -> Void)?) {
        random = Seeded(seed)
        self.seed = seed
        report = trace
        setTime()
    }

    /// Milliseconds since 1970.
    var milliseconds: Int64 { Self.begin + now / 1000 }
    /// The clock of a process. Only the date is wrong.
    func clock(of process: Int) -> Clock {
        let (time, wrong, started, boot) = (time, ProcessClock(seed: seed, process: process), started, "\(starts)")
        // No machine takes equally long to start twice: the steady time tells starts from one another by that.
        let starting = Int64(starts) * 7919
        return Clock(
            now: { time.value + wrong.error(at: time.value - Self.begin) }, monotonic: { time.value * 1_000_000 },
            sinceBoot: { time.value - started + starting }, boot: { boot })
    }

    /// Whether the account has another device that answers: so in two of five worlds.
    var isOther: Bool { seed % 5 < 2 }

    /// The machine is started again.
    func startAgain() {
        starts += 1
        started = milliseconds
    }

    /// How often the machine was started, and the time of the last start.
    private var starts = 0
    private var started = World.begin
    let seed: UInt64

    func after(_ microseconds: Int64, _ body: @escaping () -> Void) {
        order += 1
        push(Event(time: now + max(0, microseconds), order: order, body: body))
    }

    /// Lets time pass until `end`.
    func run(until end: Int64) {
        while let next = heap.first, next.time <= end {
            pop()
            if next.time > now {
                now = next.time
                setTime()
            }
            next.body()
        }
        now = max(now, end)
        setTime()
    }

    var isTracing: Bool { report != nil }

    func trace(_ text: @autoclosure () -> String) {
        guard let report else { return }
        let (seconds, rest) = (now / 1_000_000, now % 1_000_000 / 100)
        let fraction = String(rest + 10000).dropFirst()
        report("\(String(repeating: " ", count: max(0, 4 - "\(seconds)".count)))\(seconds).\(fraction)  \(text())")
    }

    private func setTime() {
        time.value = milliseconds
        machine_set_time(milliseconds)
    }

    // MARK: A binary heap

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        (heap[left].time, heap[left].order) < (heap[right].time, heap[right].order)
    }

    private func push(_ event: Event) {
        heap.append(event)
        var index = heap.count - 1
        while index > 0, isBefore(index, (index - 1) / 2) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private func pop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && isBefore(child, least) {
                least = child
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}

/// The time for readers on any thread.
private final class SharedTime: Sendable {
    private let time = Mutex<Int64>(0)
    var value: Int64 {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}

/// Counts of events, for the table.
public struct Counts: Sendable, Encodable {
    public var stanzas = 0
    /// Messages of others that change other messages.
    public var operations = 0
    /// Such messages of the user's.
    public var changes = 0
    /// Texts of an encrypted conversation.
    public var encrypted = 0
    /// Messages read in OMEMO 2, at either end.
    public var encryptedIn2 = 0
    /// How often the disk was put back to a backup.
    public var restores = 0
    /// Passwords changed at the server.
    public var passwords = 0
    public var kills = 0
    public var freezes = 0
    /// Freezes in the middle of a call.
    public var freezesWithin = 0
    /// Freezes in the middle of a transaction in the mailbox.
    public var freezesInMailbox = 0
    /// Fences raised over the head of another process.
    public var takeovers = 0
    /// Frozen writers killed.
    public var writersKilled = 0
    public var wakes = 0
    public var backgrounds = 0
    public var pushesHandedOver = 0
    public var notifications = 0
    /// Notifications shown once more.
    public var repeated = 0
    public var withdrawn = 0
    /// Notifications that could not be shown.
    public var failedOutputs = 0
    public var cuts = 0
    public var restarts = 0
    public var expiries = 0
    /// Messages forgotten by the archive.
    public var forgotten = 0
    /// How often the archive was emptied.
    public var purges = 0
    /// Messages reported as of unknown outcome.
    public var unknown = 0
    /// Readings of a room's forged archive.
    public var forged = 0
    public var powerFailures = 0
    public var ioErrors = 0
    /// Steps that left before the server asked, and those of them that the server did not take.
    public var letters = 0
    public var lettersFailed = 0
    /// Logins begun with a token.
    public var tokenLogins = 0
    public var resumes = 0
    public var failedResumes = 0
    public var binds = 0
}
