import Glibc
import KalijText
import KalijTransport

/// Prompts for input at the terminal, hidden by default.
///
/// The keys that end or stop a program do so (`getpass` delivers them as characters), and the terminal echoes characters again
/// afterwards, however the prompt ends.
final class PasswordPrompt {
    private let prompt: PrintedText
    private let isHidden: Bool
    private let terminal: Int32
    private let loop: EventLoop
    private let shown: termios
    private var line: [UInt8] = []
    private var end = End.input

    private enum End {
        /// A line was typed, or Ctrl-D.
        case input
        case signal(Int32)
    }

    private static let signals = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP]

    /// - Returns: the typed line; nil if the input ended before (Ctrl-D).
    /// - Throws: `Failure` if there is no terminal, `SystemError`
    static func readLine(_ prompt: PrintedText, isHidden: Bool = true) throws -> [UInt8]? {
        let own = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { if own >= 0 { close(own) } }
        return try PasswordPrompt(prompt, isHidden, terminal: own >= 0 ? own : STDIN_FILENO).run()
    }

    private init(_ prompt: PrintedText, _ isHidden: Bool, terminal: Int32) throws {
        (self.prompt, self.isHidden) = (prompt, isHidden)
        self.terminal = terminal
        loop = try EventLoop()
        var now = termios()
        guard tcgetattr(terminal, &now) == 0 else { throw SystemError("reading the terminal's settings") }
        shown = now
    }

    private func run() throws -> [UInt8]? {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        try loop.watchSignals(Self.signals) { [weak self] in self?.stop(.signal($0)) }
        while true {
            try awaitEnd()
            guard case .signal(let number) = end else { break }
            // The signal has its default effect, without a core dump of the typed characters: after a signal that terminates the
            // process this function does not return.
            var core = rlimit()
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &core)
            Glibc.signal(number, SIG_DFL)
            raise(number)
            pthread_sigmask(SIG_SETMASK, &mask, nil)
            // The process was stopped, and has resumed.
            (line, end) = ([], .input)
            try loop.watchSignals(Self.signals) { [weak self] in self?.stop(.signal($0)) }
        }
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        guard line.last == 0x0A else { return line.isEmpty ? nil : line }
        return line.dropLast()
    }

    private func awaitEnd() throws {
        var hidden = shown
        if isHidden { hidden.c_lflag &= ~tcflag_t(ECHO) }
        guard tcsetattr(terminal, TCSAFLUSH, &hidden) == 0 else {
            throw SystemError("changing the terminal's settings")
        }
        write("\(prompt)")
        let watch = try loop.watch(terminal, .read) { [weak self] _ in self?.readSome() }
        loop.run()
        watch.cancel()
        var before = shown
        tcsetattr(terminal, TCSAFLUSH, &before)
        if isHidden { write("\n") }
    }

    private func readSome() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(terminal, &buffer, buffer.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        line += buffer.prefix(max(0, count))
        if count <= 0 || line.last == 0x0A { stop(.input) }
    }

    private func stop(_ end: End) {
        self.end = end
        loop.stop()
    }

    private func write(_ text: PrintedText) {
        let bytes = Array(text.description.utf8)
        _ = Glibc.write(terminal, bytes, bytes.count)
    }
}
