import Foundation
import Glibc
import KalijLab
import KalijPushLab
import Testing

@Suite("The push server's log", .serialized)
struct PushLogTests {
    @Test("nobody reads the log: publishes are answered, SIGTERM ends the server, and what is missing is said")
    func unread() throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        // A line for each push.
        let modules: [String: Any] = ["m": ["type": "log", "is_default_module": true]]
        let stage = try PushStage(folder: folder.path + "/stage", port: xmpp.port, more: ["pushModules": modules])
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { Glibc.close(end) } }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        try stage.start(errors: .descriptor(ends[1]))
        #expect(xmpp.wait { xmpp.isReady })
        // A pipe holds 64 KiB.
        for number in 0..<4_000 { xmpp.publish("token\(number)") }
        #expect(xmpp.wait { xmpp.unanswered == 0 })
        #expect(xmpp.answered == 4_000)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        try #require(read(ends[0], &buffer, buffer.count) > 0)
        #expect(xmpp.wait(for: xmpp.publish("another"))?.type == "result")
        let count = read(ends[0], &buffer, buffer.count)
        let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        #expect(
            text.contains(/<4>[0-9]+ lines are missing here: nobody has read the log\n<7>m: push to anothe/), "\(text)")
        #expect(stage.terminate() == .exited(0))
    }

    @Test("without standard streams: nothing of the server's becomes one")
    func closed() throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let stage = try PushStage(folder: folder.path + "/stage", port: xmpp.port)
        try stage.startWithoutStreams()
        #expect(xmpp.wait { xmpp.isReady })
        let pid = try #require(stage.pid)
        for descriptor in 0...2 {
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\(descriptor)")
            #expect(target == "/dev/null")
        }
        #expect(stage.terminate() == .exited(0))
    }
}
