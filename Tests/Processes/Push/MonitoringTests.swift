import Foundation
import FoundationNetworking
import KalijLab
import KalijPushLab
import Testing

@Suite("Watching the push server", .serialized)
struct MonitoringTests {
    private func get(_ port: Int, _ path: String) async throws -> (status: Int, text: String) {
        let address = try #require(URL(string: "http://127.0.0.1:\(port)\(path)"))
        let (data, response) = try await URLSession.shared.data(from: address)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }

    @Test("metrics without token labels, health, readiness, and the page at /")
    func pages() async throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let port = try freePort()
        let stage = try PushStage(folder: folder.path + "/stage", port: xmpp.port, more: ["http": ["port": port]])
        try stage.start()
        #expect(xmpp.wait(seconds: 10) { xmpp.isReady })
        let token = String(repeating: "cd", count: 32)
        #expect(xmpp.wait(for: xmpp.publish(token, module: "apple"))?.type == "result")
        #expect(xmpp.wait(for: xmpp.publish(token, module: "apple"))?.type == "result")
        #expect(xmpp.wait(for: xmpp.publish(token, module: "none"))?.type == "wait")

        let metrics = try await get(port, "/metrics").text
        for line in [
            "kalij_push_publishes_total 3", "kalij_push_refused_total{reason=\"malformed\"} 1",
            "kalij_push_pushes_total{module=\"apple\",outcome=\"delivered\"} 1",
            "kalij_push_pushes_total{module=\"apple\",outcome=\"queued\"} 1", "kalij_push_queued 1",
            "kalij_push_component_up 1", "kalij_push_module_healthy{module=\"apple\"} 1",
            "kalij_push_provider_seconds_count{module=\"apple\"} 1",
        ] { #expect(metrics.contains(line + "\n"), "\(line)") }
        #expect(metrics.contains("kalij_push_certificate_end_seconds{module=\"apple\",whose=\"provider\"}"))
        #expect(!metrics.contains(token) && !metrics.contains("example.org"))

        #expect(try await get(port, "/healthz").status == 200)
        #expect(try await get(port, "/readyz").status == 200)
        #expect(try await get(port, "/nothing").status == 404)
        let page = try await get(port, "/").text
        #expect(page.contains("<title>kalij-push</title>"))
        // No external resources.
        #expect(!page.contains("src=") && !page.contains("href=") && !page.contains("@import"))

        xmpp.stop()
        try await Task.sleep(for: .milliseconds(500))
        let problem = try await get(port, "/readyz")
        #expect(problem.status == 503)
        #expect(problem.text.contains("component: not connected"))
    }

    @Test("check says what is wrong with the key's place; serve does not start with it")
    func check() throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let executable = try #require(ProcessInfo.processInfo.environment["KALIJ_PUSH_BINARY"])
        let component = #""componentHostname": "p", "componentKey": "k", "serverHostname": "h", "serverPort": 1"#
        func run(_ command: String, _ modules: String) throws -> (status: Int32, errors: String) {
            let path = folder.path + "/settings.json"
            try Data(#"{"component": {\#(component)}, "pushModules": \#(modules)}"#.utf8)
                .write(to: URL(fileURLWithPath: path))
            let process = Process()
            let errors = Pipe()
            process.executableURL = URL(fileURLWithPath: executable)
            process.arguments = [command, path]
            process.standardError = errors
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationStatus, text)
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
