import KalijClient
import KalijText
import KalijTransport

/// The output of `run`: present events, and with `--since` every numbered event once, in the order of the numbers, even
/// if another process drove at that time.
final class EventOutput {
    private var printer: EventPrinter
    private let directory: AccountDirectory
    /// The number of the last printed event; nil if earlier events do not matter.
    private var last: Int64?
    private var watch: Watch?
    private var stop: () -> Void = {}
    /// Why nothing can be printed any more.
    private(set) var failure: (any Error)?

    init(_ printer: EventPrinter, _ directory: AccountDirectory, since number: Int64?) {
        self.printer = printer
        self.directory = directory
        last = number
    }

    /// Ends `engine` once nothing can be printed any more: also if there is nothing to print when the reader goes.
    func attach(_ engine: Engine) {
        // Not in the middle of the engine's work and its events.
        stop = { [weak engine] in engine?.loop.enqueue { engine?.stop() } }
        watch?.cancel()
        // A file cannot be watched, and never goes away.
        watch = try? engine.loop.watch(Output.descriptor, .hangup) { [weak self] _ in self?.fail(OutputClosed()) }
        printStored()
        if failure != nil { stop() }
    }

    func print(_ event: EngineEvent) {
        if let number = event.number, let last {
            guard number > last else { return }
            // Events of another process, from a time when this process did not drive.
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

    /// Prints an answer to a command.
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
