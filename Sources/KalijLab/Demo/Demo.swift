import KalijText

import FoundationEssentials

/// The main job, shown: real server, independent client, kills, and the comparison with the server's archive.
///
/// Nothing is left running, and nothing outside the temporary directory. The directory is removed, also after Ctrl-C or
/// when the demo itself is killed.
/// - Parameters:
///   - kalij: the absolute path of the program to kill, usually the running program.
///   - output: takes each line of the result; messages about progress go to standard error.
/// - Returns: 0 if nothing was lost, twice or out of order, 1 if anything was, 69 if the demo could not be carried out.
public func runDemo(
    options: DemoOptions, kalij: String, output: (String) -> Void
) async -> Int32 {
    let terminal = Terminal()
    let laboratory: Laboratory
    do {
        laboratory = try Laboratory()
    } catch {
        terminal.say("demo: \(error)")
        return 69
    }
    laboratory.cleanUpWhenInterrupted()
    // Differences are for people to examine, so the directory stays.
    var isKept = options.keep
    defer {
        laboratory.close(keep: isKept)
        if isKept { terminal.say("kept: \(laboratory.directory)") }
    }
    do {
        let result = try await perform(options, kalij: kalij, laboratory: laboratory, terminal: terminal)
        isKept = options.keep || !result.isClean
        terminal.clear()
        if options.json {
            output(try result.json())
        } else {
            result.table().forEach(output)
        }
        return result.isClean ? 0 : 1
    } catch {
        terminal.say("demo: \(error)")
        return 69
    }
}

private func perform(
    _ options: DemoOptions, kalij: String, laboratory: Laboratory, terminal: Terminal
) async throws -> KillResult {
    var plan = KillOptions(kalij: kalij, server: options.server)
    plan.kills = options.kills
    plan.messages = options.messages
    plan.seed = options.seed
    plan.failedResumes = Double(options.failedResumes) / 100
    plan.cuts = Double(options.cuts) / 100
    plan.archive = options.archive
    let bar = ProgressBar()
    let run = try await KillRun.prepare(plan, laboratory: laboratory) {
        terminal.say("· \($0)")
    } progress: { progress in
        if progress.phase == .killing {
            let details = "\(progress.kills) kills  \(progress.incoming) in  \(progress.outgoing) out"
            terminal.show(bar.line(fraction: progress.fraction, details: details))
        } else {
            terminal.say("· \(progress.account): \(progress.phase.rawValue)")
        }
    }
    terminal.say("· bob (slixmpp) sends m 1, m 2, ...; kalij send queues r 1, r 2, ...; seed \(plan.seed)")
    terminal.say(
        "· kalij run is killed with SIGKILL \(plan.kills) times, \(plan.lifetime.lowerBound) to "
            + "\(plan.lifetime.upperBound) ms after its start")
    if options.failedResumes > 0 {
        let ways = plan.archive == .always ? "three" : "two"
        terminal.say("· after \(options.failedResumes) % of the kills its session is lost, in one of \(ways) ways")
    }
    return try await run.run().result
}
