import Glibc

/// Queues numbered replies with `kalij send`, one process after the other, and kills some of these processes.
struct ReplySender {
    let kalij: KalijCommand
    let recipient: String
    let killShare: Double
    /// Milliseconds between two.
    let pause: Int
    let tally: Tally
    var generator: SeededGenerator

    /// Continues until the tally is over.
    /// - Throws: ``LaboratoryError`` if twenty in a row fail.
    mutating func run() async throws {
        var number = 0
        var failuresInARow = 0
        while !tally.isOver, !Task.isCancelled {
            await tally.beginSending()
            if tally.isOver || Task.isCancelled { return tally.endSending() }
            number += 1
            let process = try kalij.send("r \(number)", to: recipient)
            let killing = Double.random(in: 0..<1, using: &generator) < killShare
            let patience = Double(Int.random(in: 1...60, using: &generator)) / 1000
            var ending = await wait(for: process, seconds: killing ? patience : hungAfter)
            let isKilled = ending == nil && (killing || tally.isHeld)
            if ending == nil {
                process.signal(SIGKILL)
                ending = await process.wait(seconds: hungAfter)
            }
            tally.endSending()
            failuresInARow = record(number, ending: ending, killing: isKilled) ? 0 : failuresInARow + 1
            try? await sleep(for: .milliseconds(pause))
            guard failuresInARow < 20 else {
                throw LaboratoryError("kalij send failed 20 times in a row: \(kalij.errors(of: "send"))")
            }
        }
    }

    /// Waits for the end of a process, unless sending is held from now on.
    private func wait(for process: Subprocess, seconds: Double) async -> Subprocess.Ending? {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline, !tally.isHeld, !Task.isCancelled {
            if let ending = process.ending() { return ending }
            try? await sleep(for: .milliseconds(1))
        }
        return process.ending()
    }

    /// - Returns: whether the process ended as expected.
    private func record(_ number: Int, ending: Subprocess.Ending?, killing: Bool) -> Bool {
        let accepted = ending == .exited(0)
        let wasKilled = killing && ending == .killed(SIGKILL)
        tally.change { counts in
            if accepted {
                counts.accepted.insert(number)
            } else {
                counts.uncertain.insert(number)
                if wasKilled { counts.sendKills += 1 } else { counts.sendFailures += 1 }
            }
        }
        return accepted || wasKilled
    }
}
