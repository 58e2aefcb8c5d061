import Foundation
import KalijLab

/// The rounds of handing over.
extension HandOverLane {
    /// A driver is frozen at `point`; others come meanwhile.
    func aimedRound(_ point: FreezePoint) async throws {
        beginRound()
        // The message to write has to be there before.
        if point == .unsent || random.flip() { try await share() }
        let driver = try start(random.one(of: ["run", "wake", "wake", "flush", "ping"]) ?? "run", at: point)
        let first = try lastSent(before: Date())
        _ = try await until(every: 20) {
            try log.has(point.rawValue, pid: driver.pid) || hasPassed(driver, point)
                || lastSent(before: Date()) > first + 40
        }
        if !log.has(point.rawValue, pid: driver.pid) { try log.callOff() }
        what += " at \(point)"
        let isFrozen = log.has(point.rawValue, pid: driver.pid)
        if isFrozen { report.frozen[point, default: 0] += 1 } else { report.missed += 1 }
        let fate = isFrozen ? random.one(of: Fate.allCases) ?? .late : .none
        what += isFrozen ? ", frozen, to meet \(fate);" : ", missed;"
        async let sharing: Void = random.flip() ? share() : ()
        let wakes = try await startOthers()
        try await meet(fate, driver)
        try await awaitEnd(of: wakes)
        try await sharing
        await endAll()
        endRound()
    }

    /// Whether the process does not come to the point any more.
    private func hasPassed(_ driver: RoleProcess, _ point: FreezePoint) -> Bool {
        !driver.isRunning || point.kind == .session && driver.output.contains("\"online\"")
    }

    /// The fate of a frozen process.
    private enum Fate: CaseIterable {
        /// The process goes on, or is killed, before anybody has given it up.
        case early, killed
        /// The process goes on when another process has taken over.
        case late, later
        case none
        static let allCases: [Fate] = [.early, .killed, .late, .later]
    }

    private func startOthers() async throws -> [RoleProcess] {
        var wakes: [RoleProcess] = []
        let commands =
            ["wake"]
            + (0..<random.number(0...2)).map { _ in
                random.one(of: ["wake", "wake", "run", "flush", "ping"]) ?? "wake"
            }
        for command in random.shuffled(commands) {
            let process = try start(command)
            if command == "wake" { wakes.append(process) }
            try await sleep(for: random.milliseconds(0...200))
        }
        return wakes
    }

    private func meet(_ fate: Fate, _ driver: RoleProcess) async throws {
        switch fate {
        case .none: return
        case .early, .killed:
            try await sleep(for: random.milliseconds(0...1500))
            report.count(fate == .early ? "thawed early" : "killed")
            driver.signal(fate == .early ? SIGCONT : SIGKILL)
        case .late, .later:
            let isOver = await until {
                !driver.isRunning || log.lines().contains { $0.what == "took" && $0.pid != driver.pid && $0.mine > 0 }
            }
            if !isOver { violation("nobody took over from a frozen \(driver.command)") }
            if fate == .later { try await sleep(for: random.milliseconds(0...1500)) }
            report.count(driver.isRunning ? "given up and thawed" : "frozen within a transaction and killed by others")
            driver.signal(SIGCONT)
        }
    }

    /// "No push is left unserved": each run ends, and not by its budget, and the server's earlier messages are here.
    private func awaitEnd(of wakes: [RoleProcess]) async throws {
        for wake in wakes {
            guard await wake.end() != nil else {
                violation("a wake run hangs: \(wake.errors)")
                continue
            }
            report.wakes.append(wake.seconds)
            if wake.ending != .exited(0) {
                // The reason why catching up has not ended.
                let rows = try await sql(
                    """
                    SELECT * FROM session; SELECT id, message, request, substr(stanza, 1, 80) FROM queue;
                    SELECT * FROM catchup WHERE phase <> 'done'; SELECT * FROM attempt; SELECT * FROM fence;
                    """)
                let ending = wake.ending.map { "\($0)" } ?? "nothing"
                violation("wake \(wake.pid) ended with \(ending): \(rows) \(wake.errors.prefix(1200)) ...")
            }
        }
        for wake in wakes {
            let last = try lastSent(before: wake.started)
            if try await !has(last) {
                let owner = try await sql("SELECT * FROM fence")
                violation(
                    "m \(last) was there when wake \(wake.pid) began at \(wake.started), and is not in the database; fence "
                        + "\(owner), processes \(processes.map(\.story))"
                )
            }
        }
    }

    /// Anything at any time.
    func randomRound() async throws {
        beginRound()
        var frozen: [RoleProcess] = []
        for _ in 0..<random.number(3...7) {
            switch random.number(0...11) {
            case 0, 1: try start("run")
            case 2, 3, 4: try start("wake")
            case 5: try start("flush")
            case 6: try start("ping")
            case 7: try await share()
            case 8, 9:
                guard let one = random.one(of: running) else { continue }
                report.count("frozen anywhere")
                one.signal(SIGSTOP)
                what += " (\(one.pid) frozen)"
                frozen.append(one)
            case 10:
                frozen.popLast()?.signal(SIGCONT)
            default:
                report.count("killed anywhere")
                guard let one = random.one(of: running) else { continue }
                one.signal(SIGKILL)
                _ = await one.end()
            }
            try await sleep(for: random.milliseconds(0...500))
        }
        // A last process, which finds the others as they are.
        let wake = try start("wake")
        try await awaitEnd(of: [wake])
        await endAll()
        endRound()
    }

    private var running: [RoleProcess] { processes.filter(\.isRunning) }
}
