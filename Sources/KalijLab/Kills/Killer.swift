import Glibc

/// Starts `kalij run`, kills the process at a random moment, and starts again, until the tally is over.
struct Killer {
    let kalij: KalijCommand
    let table: RawTable
    let lifetime: ClosedRange<Int>
    let tally: Tally
    let watch: SessionWatch
    /// The share of kills after which the session is lost.
    let lossShare: Double
    var losses: SessionBreaker
    var generator: SeededGenerator
    /// The events of the processes.
    var output: LogTail
    /// How many of the last processes were killed before they were online: on a slow machine lives are longer.
    private var early = 0

    init(
        kalij: KalijCommand, table: RawTable, options: KillOptions, tally: Tally, watch: SessionWatch,
        losses: SessionBreaker,
        seed: UInt64
    ) {
        (self.kalij, self.table, self.tally, self.watch, self.losses) = (kalij, table, tally, watch, losses)
        (lifetime, lossShare, generator) = (options.lifetime, options.failedResumes, SeededGenerator(seed: seed))
        output = kalij.output
    }

    /// Starts the first process and waits until the session is bound.
    /// - Throws: ``LaboratoryError`` if the process ends, or hangs.
    func first() async throws -> Subprocess {
        let process = try kalij.run()
        let deadline = ContinuousClock.now + .seconds(hungAfter)
        while !watch.hasBound {
            if let ending = process.ending() {
                throw LaboratoryError("kalij run ended with \(ending): \(kalij.errors(of: "run"))")
            }
            guard ContinuousClock.now < deadline else {
                throw LaboratoryError("kalij run did not bind within \(hungAfter) s: \(kalij.errors(of: "run"))")
            }
            try await sleep(for: .milliseconds(5))
        }
        return process
    }

    /// Kills the first process and each following process. The last process is killed too.
    /// - Throws: ``LaboratoryError`` if the process ends by itself five times.
    mutating func run(_ first: Subprocess) async throws {
        var process = first
        var began = wallClock()
        while true {
            let milliseconds = Double(Int.random(in: lifetime, using: &generator)) * pow(1.5, Double(max(0, early - 3)))
            try await sleep(for: .seconds(began + milliseconds / 1000 - wallClock()))
            try await kill(process, begun: began)
            let wasOnline = output.newLines().contains { $0.contains(#""event":"online""#) }
            early = max(0, early + (wasOnline ? -1 : 1))
            if tally.isOver || Task.isCancelled { return try await losses.finish() }
            if lossShare > 0, Double.random(in: 0..<1, using: &generator) < lossShare { try await losses.lose() }
            began = wallClock()
            process = try kalij.run()
        }
    }

    private func kill(_ process: Subprocess, begun: Double) async throws {
        let crashed = process.ending()
        process.signal(SIGKILL)
        let killed = wallClock()
        _ = await process.wait(seconds: hungAfter)
        let queued = try? await table.unacknowledged()
        tally.change { counts in
            if crashed != nil { counts.crashes += 1 }
            counts.lives.append(Life(began: begun, killed: killed, queued: queued))
        }
        if tally.counts.crashes >= 5 {
            throw LaboratoryError("kalij run ended by itself five times: \(kalij.errors(of: "run"))")
        }
    }
}
