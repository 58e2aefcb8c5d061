import Foundation
import KalijPushLab

/// The real command between stand-ins for an XMPP server and Apple: pushes a second, and the time of a push at half of
/// that rate. The stand-ins take their part of the processors.
final class EndToEnd {
    /// What a rate of publishes has led to.
    struct Load {
        /// Answers a second.
        var reached: Double
        /// Milliseconds; half and 99 of 100 of the answers came sooner.
        var half: Double
        var late: Double
        /// Microseconds for each answer.
        var processor: Double
    }

    private let apns: LabAPNs
    let xmpp: LabComponentServer
    private let process = Process()
    private var number = 0

    /// - Parameters:
    ///   - folder: holds certificate.pem and key.pem for localhost, ec.p8 and its public key ec.pub.
    ///   - name: of the database and of the settings.
    ///   - more: further settings, each with a comma behind.
    init(_ command: String, _ folder: String, name: String = "push", more: String = "") throws {
        var options = LabServer.Options(certificate: folder + "/certificate.pem", key: folder + "/key.pem")
        options.streams = 100
        apns = try LabAPNs(options, publicKey: folder + "/ec.pub", keeps: false)
        xmpp = try LabComponentServer(key: "k")
        let endpoint = #"{"host": "localhost", "port": \#(apns.port), "caFile": "\#(folder)/certificate.pem"}"#
        let settings = """
            {\(more)"component": {"componentHostname": "push.localhost", "componentKey": "k", "serverHostname": "127.0.0.1",
             "serverPort": \(xmpp.port)}, "limits": {"tokensPerDomain": 10000000, "blockedTokens": 2000000},
             "state": {"database": "\(folder)/\(name).db", "secretFile": "\(folder)/secret"},
             "pushModules": {"m": {"type": "apple", "is_default_module": true, "apns": {"keyFilePath": "\(folder)/ec.p8",
             "keyId": "KEYID", "teamId": "TEAMID", "topic": "org.example.app", "endpoint": \(endpoint)}}}}
            """
        try Data(settings.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name).json"))
        process.executableURL = URL(fileURLWithPath: command)
        process.arguments = ["serve", "\(folder)/\(name).json"]
        process.standardError = FileHandle.nullDevice
    }

    func start() throws {
        try process.run()
        xmpp.wait(seconds: 20) { xmpp.isReady }
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
        xmpp.stop()
        apns.stop()
    }

    func measure() throws -> [Figure] {
        try start()
        defer { stop() }
        _ = flood(1_000, seconds: 1)
        var (most, late): (Double, Double) = (0, .infinity)
        for rate in [5_000, 10_000, 15_000, 20_000] {
            guard let load = load(rate, seconds: 4) else { continue }
            print(
                "asked \(rate) a second, answered \(Int(load.reached)); half within \(Int(load.half)) ms, "
                    + "99 of 100 within \(Int(load.late)) ms; unanswered \(xmpp.unanswered); "
                    + "kalij-push took \(Int(load.processor)) µs of CPU for each")
            most = max(most, load.reached)
            if rate == 5_000 { late = load.late }
        }
        return [
            Figure(name: "pushes a second, end to end", value: most, bound: 10_000, isLeast: true),
            Figure(name: "99 of 100 are answered within, at 5,000 a second", value: late, unit: " ms", bound: 100),
        ]
    }

    /// - Parameter deadEach: each so many tokens one is dead; nil for none.
    /// - Returns: nil without any answer.
    func load(_ rate: Int, seconds: Double, deadEach: Int? = nil) -> Load? {
        xmpp.forgetAnswers()
        let before = processorSeconds(process.processIdentifier)
        let reached = flood(rate, seconds: seconds, deadEach: deadEach)
        let processor = processorSeconds(process.processIdentifier) - before
        let times = xmpp.times
        guard !times.isEmpty else { return nil }
        return Load(
            reached: reached, half: times[times.count / 2] * 1000,
            late: times[min(times.count - 1, times.count * 99 / 100)] * 1000,
            processor: processor / Double(times.count) * 1e6)
    }

    /// Publishes at a rate, a batch every 5 ms.
    /// - Returns: answers a second.
    private func flood(_ rate: Int, seconds: Double, deadEach: Int? = nil) -> Double {
        let began = Date()
        let before = xmpp.answered
        var sent = 0
        while case let passed = Date().timeIntervalSince(began), passed < seconds {
            var batch = ""
            while Double(sent) < passed * Double(rate) {
                number += 1
                sent += 1
                let digits = String(number, radix: 16)
                let token = String(repeating: "a", count: 64 - digits.count) + digits
                if let deadEach, number % deadEach == 0 { apns.script(token, LabAPNs.reply(410, "Unregistered")) }
                batch += xmpp.makePublish(token).text
            }
            xmpp.send(batch)
            usleep(5_000)
        }
        xmpp.wait(seconds: 20) { xmpp.unanswered == 0 }
        return Double(xmpp.answered - before) / Date().timeIntervalSince(began)
    }
}
