import Foundation
import KalijHTTP
import KalijPushLab
import KalijTransport

/// CPU time a request over 4 connections with 100 streams each, against h2load with the same.
func provider(certificate: String, key: String) throws -> Figure {
    let count = 60_000
    let server = try LabServer(LabServer.Options(certificate: certificate, key: key)) { _ in .respond(status: 200) }
    defer { server.stop() }
    let path = "/3/device/" + String(repeating: "ab", count: 32)
    let body = Array(#"{"aps":{"alert":{"body":"New Message?","title":"New Message"},"mutable-content":1}}"#.utf8)
    let fields = [
        HTTPField("apns-topic", "org.example.app"), HTTPField("apns-push-type", "alert"),
        HTTPField("apns-priority", "10"), HTTPField("apns-expiration", "1700000000"),
        HTTPField("authorization", "bearer " + String(repeating: "x", count: 200)),
    ]
    let bodyFile = NSTemporaryDirectory() + "push-body-\(getpid())"
    try Data(body).write(to: URL(fileURLWithPath: bodyFile))
    defer { try? FileManager.default.removeItem(atPath: bodyFile) }
    var ratios: [Double] = []
    for round in 1...3 {
        let loop = try EventLoop()
        let client = HTTPClient(
            loop: loop, origin: HTTPOrigin(host: "localhost", port: server.port),
            tls: TLSSettings(serverName: "localhost", caFile: certificate))
        var begun = 0
        var ended = 0
        var failed = 0
        func next() {
            guard begun < count else { return }
            begun += 1
            client.perform(HTTPRequest(path: path, fields: fields, body: body), timeout: 30) { outcome in
                ended += 1
                if (try? outcome.get().status) != 200 { failed += 1 }
                if ended == count { loop.stop() } else { next() }
            }
        }
        let began = threadSeconds()
        let wall = Date()
        for _ in 0..<400 { next() }
        loop.run()
        let ours = threadSeconds() - began
        let seconds = Date().timeIntervalSince(wall)
        client.close()
        let before = childSeconds()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["h2load", "-n", "\(count)", "-c", "4", "-m", "100", "-d", bodyFile]
            + fields.flatMap { ["-H", "\($0.name): \($0.value)"] } + ["https://localhost:\(server.port)\(path)"]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let theirs = childSeconds() - before
        print(
            "round \(round): CPU µs a request: ours \(String(format: "%.1f", ours / Double(count) * 1e6)), "
                + "h2load \(String(format: "%.1f", theirs / Double(count) * 1e6)), ratio "
                + String(format: "%.2f", ours / theirs)
                + "; \(Int(Double(count) / seconds)) a second, \(failed) failed")
        ratios.append(failed == 0 ? ours / theirs : .infinity)
    }
    return Figure(name: "CPU time a push, of that of h2load", value: ratios.median, bound: 4)
}
