import Foundation
import KalijPushLab

/// The real command with push services of strangers, beside Apple: rates in the same run, memory with many services, and what a hanging and a
/// lying service cost the honest ones.
final class WebPush {
    private let xmpp: LabComponentServer
    private let apns: LabAPNs
    private let honest: LabPushService
    private let hanging: LabPushService
    private let lying: LabPushService
    private let process = Process()
    private var number = 0
    private static let names = 1_000

    init(_ command: String, _ folder: String) throws {
        var options = LabServer.Options(certificate: folder + "/certificate.pem", key: folder + "/key.pem")
        options.streams = 100
        let key = folder + "/ec.pub"
        xmpp = try LabComponentServer(key: "k")
        apns = try LabAPNs(options, publicKey: key, keeps: false)
        honest = try LabPushService(options, publicKey: key, host: Self.name(0), keeps: false)
        hanging = try LabPushService(options, publicKey: key, host: "hanging.push.localhost", keeps: false)
        lying = try LabPushService(options, publicKey: key, host: "lying.push.localhost", keeps: false)
        hanging.script(all: .silence)
        let endpoint: [String: Any] = [
            "host": "localhost", "port": Int(apns.port), "caFile": folder + "/certificate.pem",
        ]
        func own(_ host: String, _ port: UInt16) -> [String: Any] {
            ["host": host, "port": Int(port), "address": "127.0.0.1", "caFile": folder + "/certificate.pem"]
        }
        var services = (0..<Self.names).map { own(Self.name($0), honest.port) }
        services += [own("hanging.push.localhost", hanging.port), own("lying.push.localhost", lying.port)]
        let settings: [String: Any] = [
            "component": [
                "componentHostname": "push.localhost", "componentKey": "k", "serverHostname": "127.0.0.1",
                "serverPort": xmpp.port,
            ],
            "limits": ["tokensPerDomain": 10_000_000, "deadTokens": 10_000, "newTokenFailures": 10_000],
            "state": ["database": folder + "/web.db", "secretFile": folder + "/secret"],
            "pushModules": [
                "apple": [
                    "type": "apple",
                    "apns": [
                        "keyFilePath": folder + "/ec.p8", "keyId": "KEYID", "teamId": "TEAMID",
                        "topic": "org.example.app",
                        "endpoint": endpoint,
                    ],
                ],
                "web": [
                    "type": "webpush", "ratelimit": ["enabled": false],
                    "webpush": [
                        "keyFilePath": folder + "/ec.p8", "contact": "mailto:ops@example.org", "ownServices": services,
                        "services": 4 * Self.names,
                    ],
                ],
            ],
        ]
        try JSONSerialization.data(withJSONObject: settings).write(to: URL(fileURLWithPath: folder + "/web.json"))
        process.executableURL = URL(fileURLWithPath: command)
        process.arguments = ["serve", folder + "/web.json"]
        process.standardError = FileHandle.nullDevice
    }

    private static func name(_ number: Int) -> String { "h\(number).push.localhost" }

    private func apple() -> String {
        let digits = String(number, radix: 16)
        return xmpp.makePublish(String(repeating: "a", count: 64 - digits.count) + digits, module: "apple").text
    }

    private func web(_ service: Int) -> (id: String, text: String) {
        xmpp.makePublish(honest.node("d\(number)", at: Self.name(service)), module: "web")
    }

    func measure() throws -> [Figure] {
        try process.run()
        xmpp.wait(seconds: 20) { xmpp.isReady }
        defer {
            process.terminate()
            process.waitUntilExit()
            xmpp.stop()
            for stop in [apns.stop, honest.stop, hanging.stop, lying.stop] { stop() }
        }
        var figures = rates()
        figures.append(memory())
        figures.append(beside())
        return figures
    }

    // MARK: Rates

    /// Apple and push services by turns, on connections that stand.
    private func rates() -> [Figure] {
        var (ours, theirs): ([Double], [Double]) = ([], [])
        _ = flood(1_000, seconds: 1) { self.apple() }
        _ = flood(1_000, seconds: 1) { self.web(self.number % 10).text }
        for _ in 0..<3 {
            theirs.append(flood(20_000, seconds: 3) { self.apple() })
            ours.append(flood(20_000, seconds: 3) { self.web(self.number % 10).text })
        }
        print("Apple \(theirs.map(Int.init)) a second, push services \(ours.map(Int.init))")
        return [
            Figure(name: "web pushes a second, to ten services", value: ours.median, bound: 1_000, isLeast: true),
            Figure(name: "their part of Apple's rate", value: ours.median / theirs.median, bound: 0.3, isLeast: true),
        ]
    }

    private func flood(_ rate: Int, seconds: Double, _ publish: () -> String) -> Double {
        xmpp.forgetAnswers()
        let cpu = processorSeconds(process.processIdentifier)
        let began = Date()
        var sent = 0
        while case let passed = Date().timeIntervalSince(began), passed < seconds {
            var batch = ""
            while Double(sent) < passed * Double(rate), xmpp.unanswered < 3_000 {
                number += 1
                sent += 1
                batch += publish()
                if batch.utf8.count > 400_000 { break }
            }
            xmpp.send(batch)
            // The load comes in portions of 2 ms.
            usleep(2_000)
        }
        xmpp.wait(seconds: 20) { xmpp.unanswered == 0 }
        let reached = Double(xmpp.answered) / Date().timeIntervalSince(began)
        let each = (processorSeconds(process.processIdentifier) - cpu) / Double(max(1, xmpp.answered)) * 1e6
        print("\(Int(reached)) a second, \(Int(each)) µs of CPU for each, \(xmpp.unanswered) unanswered")
        return reached
    }

    // MARK: Memory

    private func memory() -> Figure {
        let before = resident()
        for round in 0..<100 {
            _ = flood(4_000, seconds: 0.25) { self.web(self.number % Self.names).text }
            if round == 0 || number > 250_000 { continue }
        }
        let taken = honest.taken
        let after = resident()
        print(
            "\(taken) pushes taken, \(honest.connections) connections made; \(Int(before)) MB before, \(Int(after)) MB after"
        )
        return Figure(
            name: "memory with 1,000 push services and 100,000 endpoints", value: after, unit: " MB", bound: 150)
    }

    private func resident() -> Double {
        let pages = (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/statm", encoding: .utf8))?.split(
            separator: " ")
        return Double(pages.flatMap { Int($0[1]) } ?? 0) * 4096 / 1e6
    }

    // MARK: Beside bad services

    /// By turns with and without a hanging and a lying service beside 100 honest ones, at 1,000 pushes a second.
    private func beside() -> Figure {
        let lies: [LabReply] = [
            .later(4.5, LabPushService.reply(201)), LabPushService.reply(503), .reset(code: 2), .hangUp,
            LabPushService.reply(429, retryAfter: 3_600),
            .respond(status: 201, body: String(repeating: "a", count: 1_000_000)),
            .respond(status: 307, fields: [("location", "https://h1.push.localhost/")]),
            LabPushService.reply(400), .goAway(including: false, then: .silence), .silence, LabPushService.reply(201),
            LabPushService.reply(410),
        ]
        _ = honestTimes(seconds: 5, bad: nil)
        var (without, with): ([Double], [Double]) = ([], [])
        for _ in 0..<7 {
            without += honestTimes(seconds: 6, bad: nil)
            with += honestTimes(seconds: 6) { round in
                self.lying.script("l\(self.number)", lies[round % lies.count])
                let nodes = [self.hanging.node("g\(self.number)"), self.lying.node("l\(self.number)")]
                return nodes.map { self.xmpp.makePublish($0, module: "web", domain: "other.example").text }.joined()
            }
        }
        let (before, after) = (Self.late(without), Self.late(with))
        print(
            "99 of 100 honest pushes: \(before) ms without, \(after) ms beside a hanging and a lying service (\(without.count), \(with.count))"
        )
        return Figure(
            name: "time of honest pushes beside bad services, of that without", value: after / before, bound: 1.1)
    }

    private static func late(_ times: [Double]) -> Double {
        let sorted = times.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count * 99 / 100] * 1000
    }

    private func honestTimes(seconds: Double, bad: ((Int) -> String)?) -> [Double] {
        xmpp.forgetAnswers()
        var ids: [String] = []
        let began = Date()
        while case let passed = Date().timeIntervalSince(began), passed < seconds {
            var batch = ""
            while Double(ids.count) < passed * 1_000 {
                number += 1
                let (id, text) = web(number % 100)
                ids.append(id)
                batch += text
                // As many as the honest services' share of the load.
                if let bad, ids.count % 50 == 0 { batch += bad(ids.count / 50) }
            }
            xmpp.send(batch)
            // A push a millisecond: the load is 1,000 a second.
            usleep(1_000)
        }
        xmpp.wait(seconds: 12) { xmpp.unanswered == 0 }
        return ids.compactMap { xmpp.answer($0)?.seconds }
    }
}
