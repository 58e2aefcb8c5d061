import Foundation
import KalijLab
import KalijPushLab
import Testing

@Suite("Watching the push server", .serialized)
struct MonitoringTests {
    @Test("metrics without token labels, health, readiness, and the page at /")
    func pages() async throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let stage = try PushStage(folder: folder.path + "/stage", port: xmpp.port)
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        let token = String(repeating: "cd", count: 32)
        #expect(xmpp.wait(for: xmpp.publish(token, module: "apple"))?.type == "result")
        #expect(xmpp.wait(for: xmpp.publish(token, module: "apple"))?.type == "result")
        #expect(xmpp.wait(for: xmpp.publish(token, module: "none"))?.type == "wait")

        let metrics = try await stage.page("/metrics").text
        for line in [
            "kalij_push_build_info{version=\"0.2.0\"} 1",
            "kalij_push_publishes_total 3", "kalij_push_refused_total{reason=\"unusable\"} 1",
            "kalij_push_pushes_total{module=\"apple\",outcome=\"delivered\"} 1",
            "kalij_push_pushes_total{module=\"apple\",outcome=\"queued\"} 1", "kalij_push_queued 1",
            "kalij_push_component_up 1", "kalij_push_module_healthy{module=\"apple\"} 1",
            "kalij_push_provider_seconds_count{module=\"apple\"} 1",
        ] { #expect(metrics.contains(line + "\n"), "\(line)") }
        for name in ["process_resident_memory_bytes", "process_cpu_seconds_total", "process_start_time_seconds"] {
            #expect(metrics.contains("\n\(name) "), "\(name)")
        }
        #expect(metrics.contains("kalij_push_certificate_end_seconds{module=\"apple\",whose=\"provider\"}"))
        #expect(!metrics.contains(token) && !metrics.contains("example.org"))

        #expect(try await stage.page("/healthz").status == 200)
        #expect(try await stage.page("/readyz").status == 200)
        #expect(try await stage.page("/nothing").status == 404)
        let page = try await stage.page("/").text
        #expect(page.contains("<title>kalij-push</title>"))
        // No external resources.
        #expect(!page.contains("src=") && !page.contains("href=") && !page.contains("@import"))

        xmpp.stop()
        var problem = (status: 200, text: "")
        let isKnown = try await until {
            problem = try await stage.page("/readyz")
            return problem.status == 503
        }
        #expect(isKnown)
        #expect(problem.text.contains("component: not connected"))
    }

    @Test("more connections to the pages than are served at a time: the pages are back when the connections are gone")
    func crowd() async throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let stage = try PushStage(folder: folder.path + "/stage", port: xmpp.port)
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        #expect(try await stage.page("/healthz").status == 200)
        // 64 are served. The descriptors end with the shell.
        let open = "exec {end}<>/dev/tcp/127.0.0.1/\(stage.httpPort)"
        try PushStage.shell("bash -ec 'for n in $(seq 100); do \(open); done; sleep 0.5'", in: stage.folder)
        #expect(try await stage.page("/healthz").status == 200)
    }

    @Test("connections that ask for nothing keep nobody out: the newest are served, the oldest go")
    func idle() async throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let stage = try PushStage(folder: folder.path + "/stage", port: xmpp.port)
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        #expect(try await stage.page("/healthz").status == 200)
        let (port, page) = (stage.httpPort, "http://127.0.0.1:\(stage.httpPort)/healthz")
        let open = "exec {end}<>/dev/tcp/127.0.0.1/\(port)"
        // All are open while the page is asked for: the limit of time is far below that of an idle connection.
        try PushStage.shell(
            "bash -ec 'for n in $(seq 200); do \(open); done; curl -fsS --max-time 5 \(page)'", in: stage.folder)
    }

    @Test("a name of somebody else's that leads here is no way to the pages")
    func rebinding() async throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let stage = try PushStage(folder: folder.path + "/stage", port: xmpp.port)
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        #expect(try await stage.page("/metrics").status == 200)
        let curl = "curl -sS -o /dev/null -w %{http_code} http://127.0.0.1:\(stage.httpPort)/metrics"
        try PushStage.shell("test $(\(curl) -H 'Host: rebound.example:\(stage.httpPort)') = 421", in: stage.folder)
        try PushStage.shell("test $(\(curl) -H 'Host: localhost:1') = 200", in: stage.folder)
    }

    @Test(
        "SIGHUP: with errors the old configuration stays, without errors the new configuration holds; always connected")
    func reload() throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let stage = try PushStage(folder: folder.path + "/stage", port: xmpp.port)
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        let modules = try #require(stage.settings["pushModules"] as? [String: [String: Any]])
        func title(_ title: String) throws -> [String: [String: Any]] {
            var changed = modules
            var apns = try #require(modules["apple"]?["apns"] as? [String: Any])
            apns["title"] = title
            changed["apple"]?["apns"] = apns
            return changed
        }
        func push(_ digit: Character) -> String? {
            let token = String(repeating: digit, count: 64)
            #expect(xmpp.wait(for: xmpp.publish(token, module: "apple"))?.type == "result")
            return stage.apns.pushes.last { $0.token == token }?.body
        }
        // Whatever else is new in the settings: after an error nothing new holds.
        stage.settings["pushModules"] = try title("Wrong").merging(["second": ["type": "nonsense"]]) { $1 }
        try stage.writeSettings()
        stage.hangUp()
        let refused = "the new configuration cannot be used, the old one stays: \(stage.folder)/settings.json: "
        #expect(xmpp.wait { stage.log.contains(refused + "pushModules.second.type") })
        #expect(push("a")?.contains("New Message") == true)
        stage.settings["pushModules"] = try title("Another")
        try stage.writeSettings()
        stage.hangUp()
        #expect(xmpp.wait { stage.log.contains("configuration read again") })
        #expect(push("b")?.contains("Another") == true)
        #expect(xmpp.connections == 1)
        let port = try freePort()
        stage.settings["component"] = (stage.settings["component"] as? [String: Any])?
            .merging(["serverPort": port]) { $1 }
        try stage.writeSettings()
        stage.hangUp()
        let moved = "the settings have changed; connecting to 127.0.0.1:\(port)"
        #expect(xmpp.wait { stage.log.contains(moved) })
    }

    @Test("a port of another process: 75, and the system's reason")
    func taken() throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let first = try PushStage(folder: folder.path + "/first", port: xmpp.port)
        try first.start()
        #expect(xmpp.wait { xmpp.isReady })
        let more: [String: Any] = ["http": ["port": first.httpPort]]
        let second = try PushStage(folder: folder.path + "/second", port: xmpp.port, more: more)
        let outcome = try second.run("serve")
        #expect(outcome.status == 75)
        let line = "http: cannot listen on 127.0.0.1 port \(first.httpPort): Address already in use"
        #expect(outcome.words.contains(line), "\(outcome.words)")
    }

    @Test(
        "wrong usage is 64, and the message names the fault",
        arguments: [
            (["chekc", "settings.json"], "unknown command \"chekc\""), (["--bogus"], "unknown option --bogus"),
            (["check"], "`kalij-push check` takes CONFIG"),
            (["completion"], "`kalij-push completion` takes bash|zsh|fish"),
            (["--version", "now"], "`kalij-push --version` takes nothing more"), ([], "usage: kalij-push"),
        ])
    func usage(arguments: [String], message: String) throws {
        var launch = Launch(executable: try PushStage.command())
        launch.arguments = arguments
        let running = try Running(launch)
        #expect(running.process.ended()?.status == 64)
        #expect(try running.errors.contains(message))
        #expect(try running.output.isEmpty)
    }

    @Test("check reports a wrong key with its place; serve does not start with such a key")
    func check() throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let executable = try #require(ProcessInfo.processInfo.environment["KALIJ_PUSH_BINARY"])
        let component = #""componentHostname": "p", "componentKey": "k", "serverHostname": "h", "serverPort": 1"#
        func run(_ command: String, _ modules: String) throws -> (status: Int32, errors: String) {
            let path = folder.path + "/settings.json"
            try Data(#"{"component": {\#(component)}, "pushModules": \#(modules)}"#.utf8)
                .write(to: URL(fileURLWithPath: path))
            var launch = Launch(executable: executable)
            launch.arguments = [command, path]
            let running = try Running(launch)
            let ending = running.process.ended()
            return (ending?.status ?? -1, try running.errors)
        }
        #expect(try run("check", #"{"m": {"type": "log"}}"#).status == 0)
        for command in ["check", "serve"] {
            let unknown = try run(command, #"{"m": {"type": "log", "ratelimit": {"time": "1s"}}}"#)
            #expect(unknown.status == 78)
            #expect(unknown.errors.contains("pushModules.m.ratelimit.time: is no key known here"))
            let apns = #"{"certFilePath": "/no/such.p12", "certPassword": "hush", "topic": "t"}"#
            let missing = try run(command, #"{"m": {"type": "apple", "apns": \#(apns)}}"#)
            #expect(missing.status == 78)
            #expect(missing.errors.contains("pushModules.m.apns.certFilePath: cannot read /no/such.p12"))
            #expect(!missing.errors.contains("hush"))
        }
        #expect(try run("nonsense", "{}").status == 64)
    }
}
