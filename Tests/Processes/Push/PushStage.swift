import Foundation
import Glibc
import KalijLab
import KalijNodesLab
import KalijPushLab
import TestSupport
import Testing

/// The release build of `kalij-push` with a stand-in for Apple, in a folder removed by the caller.
final class PushStage {
    let folder: String
    private(set) var apns: LabAPNs
    private var fcm: LabFCM?
    /// The port of the server's pages.
    let httpPort: Int
    /// Written by ``writeSettings()``.
    var settings: [String: Any]
    private let executable: String
    private var process: Subprocess?

    /// - Parameters:
    ///   - port: of the XMPP server's component port.
    ///   - window: between two pushes to a token; nil for no limit.
    init(folder: String, port: Int, more: [String: Any] = [:], window: String? = "1h") throws {
        executable = try Self.command()
        self.folder = folder
        httpPort = try freePort()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try PushKeys.make(in: folder)
        apns = try PushKeys.apns(in: folder)
        let module: [String: Any] = [
            "type": "apple",
            "apns": [
                "keyFilePath": folder + "/ec.p8", "keyId": "KEYID", "teamId": "TEAMID", "topic": "org.example.app",
                "endpoint": ["host": "localhost", "port": Int(apns.port), "caFile": folder + "/server.pem"],
            ],
            "ratelimit": window.map { ["ratelimitTime": $0] } ?? ["enabled": false],
        ]
        settings = [
            "http": ["port": httpPort],
            "component": [
                "componentHostname": "push.localhost", "componentKey": "component-key",
                "serverHostname": "127.0.0.1", "serverPort": port,
            ],
            "pushModules": ["apple": module],
            "state": ["database": folder + "/push.db", "secretFile": folder + "/secret"],
            "timeout": ["xmppconnectionError": "1s"],
        ]
        settings.merge(more) { $1 }
        try writeSettings()
    }

    /// The path of the command to test.
    static func command() throws -> String {
        try #require(
            ProcessInfo.processInfo.environment["KALIJ_PUSH_BINARY"],
            "KALIJ_PUSH_BINARY names the command to test; `make test` builds it and sets this")
    }

    func writeSettings() throws {
        try JSONSerialization.data(withJSONObject: settings).write(to: URL(fileURLWithPath: folder + "/settings.json"))
    }

    /// A stand-in for Google, with the service account's key in `rsa.pem` and `rsa.pub`. Writes `account.json`.
    static func makeFCM(_ folder: String) throws -> LabFCM {
        let options = LabServer.Options(certificate: folder + "/server.pem", key: folder + "/server.key")
        let fcm = try LabFCM(options, publicKey: folder + "/rsa.pub", email: "push@project.example")
        let account = [
            "type": "service_account", "project_id": "project", "private_key_id": "1",
            "private_key": try String(contentsOfFile: folder + "/rsa.pem", encoding: .utf8),
            "client_email": "push@project.example", "token_uri": "https://localhost:\(fcm.port)/token",
        ]
        try JSONSerialization.data(withJSONObject: account).write(to: URL(fileURLWithPath: folder + "/account.json"))
        return fcm
    }

    /// Adds the module `google` to the settings; call this before the start.
    func addGoogle() throws {
        try Self.shell(
            """
            openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem 2>openssl.err
            openssl pkey -in rsa.pem -pubout -out rsa.pub
            """, in: folder)
        let fcm = try Self.makeFCM(folder)
        self.fcm = fcm
        var modules = settings["pushModules"] as? [String: Any] ?? [:]
        modules["google"] = [
            "type": "google",
            "fcm": [
                "fcmSecretPath": folder + "/account.json",
                "endpoint": ["host": "localhost", "port": Int(fcm.port), "caFile": folder + "/server.pem"],
            ],
            "ratelimit": ["enabled": false],
        ]
        settings["pushModules"] = modules
        try writeSettings()
    }

    /// The tokens of the pushes that the providers have taken: Apple's, then Google's.
    var taken: [String] { apns.pushes.map(\.token) + (fcm?.pushes.map(\.token) ?? []) }

    deinit {
        kill()
        apns.stop()
        fcm?.stop()
    }

    /// A page of the server. By curl, which ends; a `URLSession` may wait for ever (swift-corelibs-foundation issue
    /// 3876).
    func page(_ path: String) async throws -> (status: Int, text: String) {
        let output = folder + "/page-\(UUID().uuidString)"
        defer { unlink(output) }
        var launch = Launch(executable: try Tool(name: "curl", package: "curl").path())
        launch.arguments = [
            "--silent", "--max-time", "\(Int(hangLimit))", "--write-out", "\n%{http_code}",
            "http://127.0.0.1:\(httpPort)\(path)",
        ]
        launch.output = .file(output)
        var ending: Subprocess.Ending?
        _ = try await until(every: 100) {
            ending = try await Subprocess(launch).wait(seconds: hangLimit)
            // 7: nobody listens. A server that was just started does later.
            return ending != .exited(7) || process?.ending() != nil
        }
        guard ending == .exited(0) else { throw LaboratoryError("\(path): curl, \(ending.map { "\($0)" } ?? "late")") }
        let text = try String(contentsOfFile: output, encoding: .utf8)
        let end = try #require(text.lastIndex(of: "\n"))
        return (Int(text[end...].dropFirst()) ?? 0, String(text[..<end]))
    }

    /// The sum of a metric's samples with a text in their labels.
    func metric(_ name: String, _ label: String = "") async throws -> Int {
        try await page("/metrics").text.split(separator: "\n").reduce(0) { sum, line in
            let parts = line.split(separator: " ")
            guard parts.count == 2, parts[0] == "kalij_push_" + name || parts[0].hasPrefix("kalij_push_" + name + "{"),
                label.isEmpty || parts[0].contains(label)
            else { return sum }
            return sum + (Int(parts[1]) ?? 0)
        }
    }

    var log: String { (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? "" }

    /// The process, while there is one.
    var pid: Int32? { process?.pid }

    /// Starts the server; its log goes to a file.
    func start(errors: Launch.Stream? = nil) throws {
        var launch = launch("serve")
        launch.errors = errors ?? .file(folder + "/log")
        process = try Subprocess(launch)
    }

    /// The verdict of `kalij-push check` on the settings.
    func check(environment: [String: String] = [:]) throws -> (status: Int32, words: String) {
        try run("check", environment: environment)
    }

    /// Runs a command on the settings to its end.
    func run(_ command: String, environment: [String: String] = [:]) throws -> (status: Int32, words: String) {
        var launch = launch(command)
        launch.environment.merge(environment) { $1 }
        let running = try Running(launch)
        let ending = running.process.ended()
        return (ending?.status ?? -1, try running.output + running.errors)
    }

    /// The version of the command.
    func version() throws -> (status: Int32, words: String) {
        var launch = Launch(executable: executable)
        launch.arguments = ["--version"]
        let running = try Running(launch)
        let ending = running.process.ended()
        return (ending?.status ?? -1, try running.output)
    }

    /// Like a service: in another folder than the settings'.
    private func launch(_ command: String) -> Launch {
        var launch = Launch(executable: executable)
        launch.arguments = [command, folder + "/settings.json"]
        launch.directory = "/"
        return launch
    }

    /// Starts the server without standard input, output and error.
    func startWithoutStreams() throws {
        var launch = launch("serve")
        launch.arguments = ["-c", "exec \"$0\" \"$@\" <&- >&- 2>&-", executable] + launch.arguments
        launch.executable = "/bin/sh"
        process = try Subprocess(launch)
    }

    /// SIGHUP.
    func hangUp() {
        process?.signal(SIGHUP)
    }

    /// No file of the server grows beyond so many bytes: a full disk for the server. Nil removes the limit.
    func limitFiles(to bytes: Int?) throws {
        guard let process else { return }
        let limit = bytes.map(String.init) ?? "unlimited"
        try Self.shell("prlimit --pid \(process.pid) --fsize=\(limit):", in: folder)
    }

    /// SIGKILL.
    func kill() {
        process?.signal(SIGKILL)
        process?.ended()
        process = nil
    }

    /// SIGTERM; returns the ending.
    func terminate() -> Subprocess.Ending? {
        askToEnd()
        return process?.ended()
    }

    /// SIGTERM.
    func askToEnd() { process?.signal(SIGTERM) }

    /// Forgets blocks, as a new server would.
    func forget() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix("push.db") {
            try FileManager.default.removeItem(atPath: folder + "/" + name)
        }
    }

    /// Apple's service is not there.
    func stopAPNs() -> UInt16 {
        let port = apns.port
        apns.stop()
        return port
    }

    /// Apple's service is there again.
    func startAPNs(port: UInt16) throws { apns = try PushKeys.apns(in: folder, port: port) }

    static func shell(_ script: String, in folder: String) throws {
        var launch = Launch(executable: "/bin/sh")
        launch.arguments = ["-ec", script]
        launch.directory = folder
        try #require(try Subprocess(launch).ended() == .exited(0))
    }
}
