import Glibc
import KalijPush
import KalijText
import KalijTransport

/// The `kalij-push` command.
@main
enum KalijPushCommand {
    private static let usage: PrintedText = """
        usage: kalij-push serve CONFIG    run the push server until SIGTERM; SIGHUP reads CONFIG again
               kalij-push check CONFIG    check CONFIG and the files named there; the exit status is that of serve
               kalij-push CONFIG.json     the same as serve, as fpush is started
               kalij-push --version       print the version

        CONFIG is a settings.json in fpush's format; Documentation/Operating.md explains every key.
        """

    // The numbers of <sysexits.h>.
    private static let wrongUsage: Int32 = 64
    private static let tryAgain: Int32 = 75
    private static let badConfiguration: Int32 = 78

    static func main() {
        LogOutput.keepStandardStreams()
        signal(SIGPIPE, SIG_IGN)
        // A limit on the size of files is a full disk, and no reason to end.
        signal(SIGXFSZ, SIG_IGN)
        let words = CommandLine.arguments.dropFirst()
        switch (words.first, words.count) {
        case ("--help", 1), ("-h", 1), ("help", 1): write(usage, to: STDOUT_FILENO)
        case ("--version", 1): write("kalij-push \(kalijVersion)", to: STDOUT_FILENO)
        case ("serve", 2): exit(serve(words[2]))
        case ("check", 2): exit(check(words[2]))
        case (let path?, 1) where path.hasSuffix(".json"): exit(serve(path))
        default:
            note(usage)
            exit(wrongUsage)
        }
    }

    private static func check(_ path: String) -> Int32 {
        do {
            for warning in try PushServer.check(path, loop: try EventLoop()) { note("warning: \(warning)") }
            write("\(path) can be used.", to: STDOUT_FILENO)
            return 0
        } catch {
            return failure(error, path)
        }
    }

    private static func serve(_ path: String) -> Int32 {
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
        if error is SettingsError {
            note("kalij-push: \(path): \(PrintedText(field: "\(error)"))")
            return badConfiguration
        }
        // The fault is the disk, the port, or the machine: the next attempt may succeed.
        note("kalij-push: \(PrintedText(field: "\(error)"))")
        return tryAgain
    }

    private static func note(_ line: PrintedText) { write(line, to: STDERR_FILENO) }

    private static func write(_ text: PrintedText, to descriptor: Int32) {
        let bytes = Array((text.description + "\n").utf8)
        _ = Glibc.write(descriptor, bytes, bytes.count)
    }
}
