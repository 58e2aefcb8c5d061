import Glibc
import KalijCommandLine
import KalijPush
import KalijText
import KalijTransport

/// The `kalij-push` command.
@main
enum KalijPushCommand {
    // The exit statuses of <sysexits.h>.
    private static let wrongUsage: Int32 = 64
    private static let temporaryFailure: Int32 = 75
    private static let badConfiguration: Int32 = 78

    static func main() {
        LogOutput.keepStandardStreams()
        signal(SIGPIPE, SIG_IGN)
        // A file size limit is handled like a full disk, and does not terminate the server.
        signal(SIGXFSZ, SIG_IGN)
        let words = CommandLine.arguments.dropFirst()
        switch (words.first, words.count) {
        case ("--help", 1), ("-h", 1): write(PrintedText(asIs: PushManual.manual.help), to: STDOUT_FILENO)
        case ("help", _): exit(help(words.dropFirst().map(\.self)))
        case ("completion", 2...): exit(complete(words.dropFirst().map(\.self)))
        case ("--version", 1): write("kalij-push \(kalijVersion)", to: STDOUT_FILENO)
        case (let name?, 2)
        where ["serve", "check", "webpush-key"].contains(name) && ["--help", "-h"].contains(words[2]):
            exit(help([name]))
        case ("serve", 2): exit(serve(words[2]))
        case ("check", 2): exit(check(words[2]))
        case ("check", 4) where words[3] == "--push": exit(check(words[2], pushing: words[4]))
        case ("check", 6) where words[3] == "--push" && words[5] == "--module":
            exit(check(words[2], pushing: words[4], module: words[6]))
        case ("webpush-key", 2): exit(webPushKey(words[2]))
        case (let path?, 1) where path.hasSuffix(".json"): exit(serve(path))
        default:
            notice(fault(of: words.map(\.self)))
            exit(wrongUsage)
        }
    }

    /// Describes the fault of an invalid command line; without words, returns the help.
    private static func fault(of words: [String]) -> PrintedText {
        guard let first = words.first else { return PrintedText(asIs: PushManual.manual.help) }
        let name = PrintedText(field: first)
        let isWhole = first.hasSuffix(".json") || ["--help", "-h", "--version"].contains(first)
        let fault: PrintedText =
            if let entry = PushManual.manual.entry(first) {
                "`kalij-push \(name)` takes \(entry.usage)"
            } else if isWhole {
                "`kalij-push \(name)` takes nothing more"
            } else if first.hasPrefix("-") {
                "unknown option \(name)"
            } else {
                "unknown command \"\(name)\""
            }
        return "kalij-push: \(fault)\n`kalij-push help` says more"
    }

    private static func help(_ words: [String]) -> Int32 {
        let manual = PushManual.manual
        if words == ["--man"] {
            write(PrintedText(asIs: manual.page), to: STDOUT_FILENO)
        } else if words.isEmpty {
            write(PrintedText(asIs: manual.help), to: STDOUT_FILENO)
        } else if words.count == 1, let entry = manual.entry(words[0]) {
            write(PrintedText(asIs: manual.help(of: entry)), to: STDOUT_FILENO)
        } else {
            notice("kalij-push: `kalij-push help` takes a command, or --man")
            return wrongUsage
        }
        return 0
    }

    private static func complete(_ words: [String]) -> Int32 {
        if words.count >= 2, words[0] == "words", words[1] == "--" {
            let lines = PushManual.manual.completed(Array(words.dropFirst(2))).lines
            write(PrintedText(asIs: lines.map { $0 + "\n" }.joined()), to: STDOUT_FILENO, end: "")
        } else if words.count == 1, let shell = Completion(rawValue: words[0]) {
            write(PrintedText(asIs: shell.script(for: "kalij-push")), to: STDOUT_FILENO)
        } else {
            notice("kalij-push: `kalij-push completion` takes bash, zsh or fish")
            return wrongUsage
        }
        return 0
    }

    private static func check(_ path: String, pushing node: String? = nil, module: String? = nil) -> Int32 {
        do {
            for warning in try PushServer.check(path, loop: try EventLoop()) { notice("warning: \(warning)") }
            write("\(path) can be used.", to: STDOUT_FILENO)
            guard let node else { return 0 }
            let trial = try PushTrial.run(path, token: node, module: module, loop: try EventLoop())
            write("\(PrintedText(field: trial.text)).", to: STDOUT_FILENO)
            return trial.isTaken ? 0 : temporaryFailure
        } catch {
            return failure(error, path)
        }
    }

    private static func webPushKey(_ path: String) -> Int32 {
        do throws(WebPushKey.Problem) {
            write(PrintedText(field: try WebPushKey.publicKey(at: path)), to: STDOUT_FILENO)
            return 0
        } catch {
            notice("kalij-push: \(PrintedText(field: error.text))")
            return badConfiguration
        }
    }

    /// Raises the limit of open files: each push service of a module of type `webpush` has its own connections.
    private static func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private static func serve(_ path: String) -> Int32 {
        raiseFileLimit()
        do {
            let loop = try EventLoop()
            var log = LogOutput()
            // Lines begin with the priority for systemd's journal (sd-daemon(3)).
            let server = try PushServer(loop: loop, configuration: path) {
                log.write("<\($0.rawValue)>\(PrintedText(field: $1))")
            }
            let monitoring = try server.http.map { try MonitoringServer(loop: loop, settings: $0, server: server) }
            try loop.watchSignals([SIGTERM, SIGINT, SIGHUP]) { signal in
                if signal == SIGHUP {
                    ServiceManager.notify("RELOADING=1\nMONOTONIC_USEC=\(UInt64(loop.now * 1e6))")
                    server.reload()
                    ServiceManager.notify("READY=1")
                } else {
                    ServiceManager.notify("STOPPING=1")
                    server.drain { loop.stop() }
                }
            }
            server.start()
            ServiceManager.notify("READY=1")
            loop.run()
            monitoring?.close()
            return 0
        } catch {
            return failure(error, path)
        }
    }

    private static func failure(_ error: any Error, _ path: String) -> Int32 {
        if let error = error as? SettingsError {
            for line in error.lines { notice("kalij-push: \(path): \(PrintedText(field: line))") }
            return badConfiguration
        }
        // The cause is the disk, the port, or the machine: the next attempt may succeed.
        notice("kalij-push: \(PrintedText(field: "\(error)"))")
        return temporaryFailure
    }

    private static func notice(_ line: PrintedText) { write(line, to: STDERR_FILENO) }

    private static func write(_ text: PrintedText, to descriptor: Int32, end: String = "\n") {
        var bytes = Array((text.description + end).utf8)[...]
        while !bytes.isEmpty {
            // The pointer is valid within the closure, for `bytes.count` bytes.
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                // Lost output is an error, unless the reader, such as `head`, has closed its end.
                guard descriptor == STDOUT_FILENO, errno != EPIPE else { return }
                notice("kalij-push: standard output: \(String(cString: strerror(errno)))")
                exit(temporaryFailure)
            }
            bytes = bytes.dropFirst(count)
        }
    }
}
