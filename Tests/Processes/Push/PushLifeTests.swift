import Foundation
import Glibc
import KalijLab
import KalijPushLab
import Testing

@Suite("The push server's beginning and end", .serialized)
struct PushLifeTests {
    private let folder: TemporaryDirectory
    private let xmpp: LabComponentServer

    init() throws {
        folder = try TemporaryDirectory(prefix: "kalij-push")
        xmpp = try LabComponentServer(key: "component-key")
    }

    private func close() {
        xmpp.stop()
        folder.remove()
    }

    private func stage(window: String? = "1h", more: [String: Any] = [:]) throws -> PushStage {
        try PushStage(folder: folder.path + "/stage", port: xmpp.port, more: more, window: window)
    }

    private func token(_ number: Int) -> String { String(repeating: "e", count: 56) + String(10_000_000 + number) }

    @Test("a second server on the same database ends with 75 and names the database; the first goes on")
    func second() throws {
        defer { close() }
        let stage = try stage()
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        let second = try stage.run("serve")
        #expect(second.status == 75)
        #expect(second.words.contains("another process uses \(stage.folder)/push.db"), "\(second.words)")
        // The database is fine, and so are the settings.
        #expect(try stage.check().status == 0)
        #expect(xmpp.wait(for: xmpp.publish(token(1), module: "apple"))?.type == "result")
        #expect(xmpp.connections == 1)
        // The lock of a killed process is nobody's.
        stage.kill()
        xmpp.wait { !xmpp.isReady }
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
    }

    @Test("another secret than the database was made with: an alarm at the start, and none at the next")
    func secret() throws {
        defer { close() }
        let stage = try stage()
        let alarm = "<4>the secret has changed, and state.previousSecretFile is not the former secret"
        // Other lines are about secrets, too.
        try PushStage.shell("chmod 600 *", in: stage.folder)
        func start() throws -> String {
            unlink(stage.folder + "/log")
            try stage.start()
            #expect(xmpp.wait { xmpp.isReady })
            #expect(stage.terminate() == .exited(0))
            xmpp.wait { !xmpp.isReady }
            return stage.log
        }
        #expect(try !start().contains("the secret"))
        try FileManager.default.moveItem(atPath: stage.folder + "/secret", toPath: stage.folder + "/former")
        #expect(try start().contains(alarm))
        #expect(try !start().contains("the secret"))
        // In order: the former secret is named.
        try FileManager.default.moveItem(atPath: stage.folder + "/secret", toPath: stage.folder + "/second")
        stage.settings["state"] = [
            "database": stage.folder + "/push.db", "secretFile": stage.folder + "/secret",
            "previousSecretFile": stage.folder + "/second",
        ]
        try stage.writeSettings()
        let log = try start()
        #expect(log.contains("<6>the secret is new"), "\(log)")
        #expect(!log.contains(alarm))
    }

    @Test("SIGTERM: waiting pushes go out, later publishes are answered wait, every publish has one answer, 0")
    func end() throws {
        defer { close() }
        let stage = try stage()
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        for number in 1...20 {
            for _ in 1...2 {
                #expect(xmpp.wait(for: xmpp.publish(token(number), module: "apple"))?.type == "result")
            }
        }
        #expect((1...20).allSatisfy { stage.apns.requests(for: token($0)) == 1 })
        // A provider that takes a while, so that the end is not at once.
        stage.apns.script(all: .later(3, .respond(status: 200)))
        stage.askToEnd()
        #expect(xmpp.wait { stage.log.contains("ending, ") })
        let late = (21...40).map { xmpp.publish(token($0), module: "apple") }
        #expect(stage.terminate() == .exited(0))
        #expect(xmpp.wait { xmpp.unanswered == 0 })
        for id in late { #expect(xmpp.answer(id)?.type == "wait") }
        #expect((1...20).allSatisfy { stage.apns.requests(for: token($0)) == 2 })
        #expect((21...40).allSatisfy { stage.apns.requests(for: token($0)) == 0 })
        #expect(xmpp.repeated == 0)
        // Nothing is left for the next start.
        unlink(stage.folder + "/log")
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        #expect(!stage.log.contains("queued pushes from before"))
    }

    @Test("--version; check and serve end alike, with the same words, on settings and files that are of no use")
    func faults() throws {
        defer { close() }
        let stage = try stage()
        let version = try stage.version()
        #expect(version.status == 0)
        #expect(version.words.wholeMatch(of: /kalij-push [0-9]+\.[0-9.]+.*\n/) != nil, "\(version.words)")

        try PushStage.shell("printf short >short; sqlite3 other.db 'CREATE TABLE x(y)'; mkdir empty", in: stage.folder)
        let good = stage.settings
        func state(_ database: String, _ secret: String) -> [String: Any] {
            good.merging(["state": ["database": database, "secretFile": secret]]) { $1 }
        }
        func apple(_ key: String, _ value: Any) -> [String: Any] {
            var settings = good
            var modules = good["pushModules"] as? [String: [String: Any]] ?? [:]
            var apns = modules["apple"]?["apns"] as? [String: Any] ?? [:]
            apns[key] = value
            modules["apple"]?["apns"] = apns
            settings["pushModules"] = modules
            return settings
        }
        let nobody: [String: Any] = ["host": "localhost", "port": 1, "caFile": "none.pem"]
        let cases: [(settings: [String: Any], words: String)] = [
            (good.merging(["stat": 1]) { $1 }, "stat: is no key known here"),
            (state("push.db", "short"), "state.secretFile: \(stage.folder)/short has fewer than 32 bytes"),
            (state("nowhere/push.db", "secret"), "state.database: cannot make"),
            (state("other.db", "secret"), "state.database: \(stage.folder)/other.db is a database of another program"),
            (apple("keyFilePath", "server.pem"), "pushModules.apple.apns.keyFilePath"),
            (apple("title", String(repeating: "long", count: 1_100)), "pushModules.apple.apns: a payload"),
            (apple("endpoint", nobody), "pushModules.apple.apns.endpoint.caFile: cannot read"),
            (good.merging(["pushModules": ["a\u{0}b": ["type": "log"]]]) { $1 }, "pushModules: a module's name"),
        ]
        for (settings, words) in cases {
            stage.settings = settings
            try stage.writeSettings()
            let check = try stage.run("check")
            #expect(check.status == 78 && check.words.contains(words), "\(words): \(check)")
            let serve = try stage.run("serve")
            #expect(serve.status == 78 && serve.words.contains(words), "\(words): \(serve)")
        }
    }

    @Test("a database locked by another program at the start: 75, for the next start may succeed")
    func locked() throws {
        defer { close() }
        let stage = try stage()
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        #expect(stage.terminate() == .exited(0))
        var shell = Launch(executable: try Tool(name: "sqlite3", package: "sqlite3").path())
        shell.arguments = [
            stage.folder + "/push.db", "BEGIN EXCLUSIVE", ".shell touch \(stage.folder)/held; sleep 3600",
        ]
        let holder = try Subprocess(shell)
        defer {
            _ = kill(-holder.pid, SIGKILL)
            holder.ended()
        }
        #expect(xmpp.wait { access(stage.folder + "/held", F_OK) == 0 })
        let refused = try stage.run("serve")
        #expect(refused.status == 75)
        #expect(refused.words.contains("push.db"), "\(refused.words)")
        _ = kill(-holder.pid, SIGKILL)
        holder.ended()
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
    }
}
