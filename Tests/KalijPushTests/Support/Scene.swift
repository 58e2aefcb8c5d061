import Foundation
import KalijPush
import KalijPushLab
import KalijTransport
import Synchronization
import TestSupport

/// A push server in its own thread between stand-ins: an XMPP server, Apple's service, Google's service.
final class Scene {
    let folder: String
    let xmpp: LabComponentServer
    let apns: LabAPNs
    let fcm: LabFCM
    private var running: Running?
    private let lines = Lines()
    var settings: [String: Any] = [:]

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private struct Running {
        let waker: Waker
        let box: Box
        let done: DispatchSemaphore
    }

    /// @unchecked because the server is used only in its loop's thread; the waker brings work there.
    private final class Box: @unchecked Sendable {
        var server: PushServer?
    }

    init(_ change: (inout [String: Any]) -> Void = { _ in }) throws {
        folder = ScratchDirectory.freshPath("kalij-push")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, bytes) in try Self.keys.get() {
            try bytes.write(to: URL(filePath: folder + "/" + name))
            chmod(folder + "/" + name, 0o600)
        }
        let options = LabServer.Options(certificate: folder + "/server.pem", key: folder + "/server.key")
        apns = try LabAPNs(options, publicKey: folder + "/ec.pub")
        fcm = try LabFCM(options, publicKey: folder + "/rsa.pub", email: "push@project.example")
        xmpp = try LabComponentServer(key: "component-key")
        try writeAccount()
        settings = standard()
        change(&settings)
        try writeSettings()
    }

    deinit {
        stop()
        xmpp.stop()
        apns.stop()
        fcm.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    var configuration: String { folder + "/settings.json" }
    var log: [String] { lines.all.withLock { $0 } }

    private func standard() -> [String: Any] {
        let endpoint: (UInt16) -> [String: Any] = { [folder] port in
            ["host": "localhost", "port": Int(port), "caFile": folder + "/server.pem"]
        }
        return [
            "component": [
                "componentHostname": "push.localhost", "componentKey": "component-key",
                "serverHostname": "127.0.0.1", "serverPort": xmpp.port,
            ],
            "pushModules": [
                "apple": [
                    "type": "apple", "is_default_module": true,
                    "apns": [
                        "keyFilePath": folder + "/ec.p8", "keyId": "KEYID", "teamId": "TEAMID",
                        "topic": "org.example.app", "endpoint": endpoint(apns.port), "requestTimeout": 10,
                    ],
                ],
                "google": [
                    "type": "google",
                    "fcm": [
                        "fcmSecretPath": folder + "/account.json", "endpoint": endpoint(fcm.port), "requestTimeout": 10,
                    ],
                ],
            ],
            "state": ["database": folder + "/push.db", "secretFile": folder + "/secret"],
            "timeout": ["xmppconnectionError": "500ms"],
        ]
    }

    func writeSettings() throws {
        try JSONSerialization.data(withJSONObject: settings).write(to: URL(fileURLWithPath: configuration))
        chmod(configuration, 0o600)
    }

    private func writeAccount() throws {
        let account = [
            "project_id": "project", "client_email": "push@project.example", "private_key_id": "1",
            "private_key": try String(contentsOfFile: folder + "/rsa.pem", encoding: .utf8),
            "token_uri": "https://localhost:\(fcm.port)/token",
        ]
        try JSONSerialization.data(withJSONObject: account).write(to: URL(fileURLWithPath: folder + "/account.json"))
        chmod(folder + "/account.json", 0o600)
    }

    /// Starts the server and waits for the connection.
    func start() throws {
        let box = Box()
        let ready = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let result = Mutex<Result<Waker, any Error>?>(nil)
        let holder = ResultHolder(result)
        let path = configuration
        let lines = lines
        Thread.detachNewThread {
            do {
                let loop = try EventLoop()
                let server = try PushServer(loop: loop, configuration: path) { _, line in
                    lines.all.withLock { $0.append(line) }
                }
                box.server = server
                holder.value.withLock { $0 = .success(loop.waker) }
                ready.signal()
                server.start()
                loop.run()
                box.server = nil
            } catch {
                holder.value.withLock { $0 = .failure(error) }
                ready.signal()
            }
            done.signal()
        }
        ready.wait()
        guard let waker = try holder.value.withLock({ try $0?.get() }) else { return }
        running = Running(waker: waker, box: box, done: done)
        xmpp.wait { xmpp.isReady }
    }

    private final class ResultHolder: Sendable {
        let value: Mutex<Result<Waker, any Error>?>
        init(_ value: consuming Mutex<Result<Waker, any Error>?>) { self.value = value }
    }

    /// Ends the server at once, like a kill, but frees what the system would free.
    func stop() {
        guard let running else { return }
        running.waker.stop()
        running.done.wait()
        self.running = nil
        // The next start waits for its own connection.
        xmpp.wait { !xmpp.isReady }
    }

    /// Reads the configuration again.
    func reload() {
        guard let running else { return }
        let box = running.box
        let done = DispatchSemaphore(value: 0)
        running.waker.enqueue {
            box.server?.reload()
            done.signal()
        }
        done.wait()
    }

    /// The server's metrics.
    func metrics() -> String? {
        guard let running else { return nil }
        let box = running.box
        let text = Mutex<String?>(nil)
        let holder = TextHolder(text)
        let done = DispatchSemaphore(value: 0)
        running.waker.enqueue {
            holder.value.withLock { $0 = box.server?.metrics(version: "0") }
            done.signal()
        }
        done.wait()
        return holder.value.withLock { $0 }
    }

    private final class TextHolder: Sendable {
        let value: Mutex<String?>
        init(_ value: consuming Mutex<String?>) { self.value = value }
    }

    /// Ends the server in order.
    func drain() {
        guard let running else { return }
        let (box, waker) = (running.box, running.waker)
        waker.enqueue { box.server?.drain { waker.stop() } }
        running.done.wait()
        self.running = nil
        xmpp.wait { !xmpp.isReady }
    }

    /// Made once: keys of RSA take long.
    private static let keys = Result<[String: Data], any Error> {
        let scratch = try ScratchDirectory()
        try makeKeys(scratch.path)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: scratch.file($0)))) })
    }

    private static func makeKeys(_ folder: String) throws {
        try shell(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -keyout server.key \
            -out server.pem -subj /CN=localhost -addext subjectAltName=DNS:localhost,DNS:push.localhost,DNS:*.push.localhost,IP:127.0.0.1
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.p8
            openssl pkey -in ec.p8 -pubout -out ec.pub
            openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa.pem
            openssl pkey -in rsa.pem -pubout -out rsa.pub
            """, in: folder)
    }

    struct ShellFailure: Error {
        var status: Int32
    }

    static func shell(_ script: String, in folder: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-ec", "umask 077; " + script]
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ShellFailure(status: process.terminationStatus) }
    }
}

/// A device's token for Apple.
func device(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "a", count: 64 - digits.count) + digits
}
