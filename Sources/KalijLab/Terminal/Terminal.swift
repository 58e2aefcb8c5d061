import Glibc
import KalijText
import Synchronization

/// Standard error for people: plain lines, and a line redrawn while something lasts.
package final class Terminal: Sendable {
    private struct State {
        var drawn = false
        var lastLine: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let isTerminal = isatty(2) == 1

    package init() {}

    /// Prints a permanent line.
    package func say(_ text: PrintedText) {
        state.withLock { state in
            write((state.drawn ? "\r\u{1B}[K" : "") + text.description + "\n")
            state.drawn = false
        }
    }

    /// Redraws the line of progress; without a terminal, prints a line every five seconds.
    package func show(_ text: @autoclosure () -> String) {
        state.withLock { state in
            if isTerminal {
                write("\r\u{1B}[K" + text().prefix(columns() - 1))
                state.drawn = true
                return
            }
            let now = ContinuousClock.now
            if let last = state.lastLine, now - last < .seconds(5) { return }
            state.lastLine = now
            write(text() + "\n")
        }
    }

    /// Ends the line of progress.
    package func clear() {
        state.withLock { state in
            if state.drawn { write("\r\u{1B}[K") }
            state.drawn = false
        }
    }

    private func columns() -> Int {
        var size = winsize()
        return ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 20 ? Int(size.ws_col) : 80
    }

    private func write(_ text: some StringProtocol) {
        // A closed standard error cannot be helped.
        try? writeAll(Array(text.utf8), to: 2, name: "standard error")
    }
}
