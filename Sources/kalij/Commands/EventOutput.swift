import KalijClient
import KalijText
import KalijTransport

/// The output of `run`: current events, and with `--since` every numbered event once, in the order of the numbers, even if
/// another process drove at that time.
final class EventOutput {
    private var printer: EventPrinter
    private let directory: AccountDirectory
    /// The number of the last printed event; nil if earlier events are not requested.
    private var last: Int64?
    private var watch: Watch?
    private var stop: () -> Void = {}
    /// Why output is no longer possible.
    private(set) var failure: (any Error)?

    init(_ printer: EventPrinter, _ directory: AccountDirectory, since number: Int64?) {
        self.printer = printer
        self.directory = directory
        last = number
    }

    /// Stops `engine` once output is no longer possible, even if there is nothing to print when the reader closes its end.
    func attach(_ engine: Engine) {
        // Not while the engine processes an event.
        stop = { [weak engine] in engine?.loop.enqueue { engine?.stop() } }
        watch?.cancel()
        // A regular file cannot be polled, and is never closed by a reader.
        watch = try? engine.loop.watch(Output.descriptor, .hangup) { [weak self] _ in self?.fail(OutputClosed()) }
        printStored()
        if failure != nil { stop() }
    }

    func print(_ event: EngineEvent) {
        if let number = event.number, let last {
            guard number > last else { return }
            // Events of another process, which drove in between.
            if number > last + 1 { return printStored() }
        }
        write(event)
    }

    /// Prints the events after the last printed event, a page at a time.
    func printStored() {
        guard last != nil else { return }
        do {
            let log = try EventLog(directory)
            while failure == nil, let last {
                let events = try log.events(after: last)
                guard !events.isEmpty else { return }
                events.forEach(write)
            }
        } catch { fail(error) }
    }

    private func write(_ event: EngineEvent) {
        attempt {
            try printer.write(event)
            if last != nil, let number = event.number { last = number }
        }
    }

    /// Prints the response to a command.
    func answer(_ line: PrintedText) { attempt { try Output.results(line + "\n") } }

    private func attempt(_ body: () throws -> Void) {
        guard failure == nil else { return }
        do { try body() } catch { fail(error) }
    }

    private func fail(_ error: any Error) {
        watch?.cancel()
        watch = nil
        failure = failure ?? error
        stop()
    }
}
