import KalijClient
import KalijText

/// Prints events: the results to standard output, remarks to standard error; with `--json` everything to standard
/// output.
struct EventPrinter {
    let json: Bool
    let verbose: Bool
    private var times: TimedLines

    init(json: Bool, verbose: Bool, clock: WallClock) {
        (self.json, self.verbose, times) = (json, verbose, TimedLines(clock))
    }

    mutating func print(_ event: EngineEvent) { Output.attempt { try write(event) } }

    /// - Throws: `OutputClosed`, `Failure`. In each case the event was not printed.
    mutating func write(_ event: EngineEvent) throws {
        if json { return try Output.results(json(event) + "\n") }
        guard event.content.isResult else { return printNotice(event) }
        guard verbose || !event.content.isDetail, let line = event.content.line else { return }
        try Output.results("\(times.begin(at: event.content.sentAt ?? event.at))\(event.account): \(line)\n")
    }

    /// Prints any event on standard error.
    func printNotice(_ event: EngineEvent) {
        guard verbose || !event.content.isDetail else { return }
        let moment = event.content.sentAt.map { times.clock.moment($0) + " " } ?? ""
        if let line = line(event, moment) { Output.notice(line) }
    }

    /// The line for people, with the account; nil if the event is omitted.
    func line(_ event: EngineEvent, _ moment: String = "") -> PrintedText? {
        guard verbose || !event.content.isDetail else { return nil }
        return event.content.line.map { "\(event.account): \(moment)\($0)" }
    }

    /// The event's line of JSON.
    func json(_ event: EngineEvent) throws -> PrintedText { try JSONLine.of(EventRecord(event)) }
}
