import Foundation
import KalijPushLab

/// The real command between stand-ins for an XMPP server and Apple: pushes a second, and the time of a push at half of
/// that rate. The stand-ins take their part of the processors.
final class EndToEnd {
    private let folder: String
    private let apns: LabAPNs
    private let xmpp: LabComponentServer
    private let process = Process()
    private var number = 0

    /// - Parameter folder: holds certificate.pem and key.pem for localhost, ec.p8 and its public key ec.pub.
    init(_ command: String, _ folder: String) throws {
        self.folder = folder
        var options = LabServer.Options(certificate: folder + "/certificate.pem", key: folder + "/key.pem")
        options.streams = 100
        apns = try LabAPNs(options, publicKey: folder + "/ec.pub", keeps: false)
        xmpp = try LabComponentServer(key: "k")
        let endpoint = #"{"host": "localhost", "port": \#(apns.port), "caFile": "\#(folder)/certificate.pem"}"#
        let settings = """
            {"component": {"componentHostname": "push.localhost", "componentKey": "k", "serverHostname": "127.0.0.1",
             "serverPort": \(xmpp.port)}, "limits": {"tokensPerDomain": 10000000},
             "state": {"database": "\(folder)/push.db", "secretFile": "\(folder)/secret"},
             "pushModules": {"m": {"type": "apple", "is_default_module": true, "apns": {"keyFilePath": "\(folder)/ec.p8",
             "keyId": "KEYID", "teamId": "TEAMID", "topic": "org.example.app", "endpoint": \(endpoint)}}}}
            """
        try Data(settings.utf8).write(to: URL(fileURLWithPath: folder + "/settings.json"))
        process.executableURL = URL(fileURLWithPath: command)
        process.arguments = ["serve", folder + "/settings.json"]
        process.standardError = FileHandle.nullDevice
    }

    func measure() throws -> [Figure] {
        try process.run()
        defer {
            process.terminate()
            process.waitUntilExit()
            xmpp.stop()
            apns.stop()
        }
        xmpp.wait(seconds: 10) { xmpp.isReady }
        _ = flood(1_000, seconds: 1)
        var (most, late): (Double, Double) = (0, .infinity)
        for rate in [5_000, 10_000, 15_000, 20_000] {
            xmpp.forgetAnswers()
            let before = processorSeconds(process.processIdentifier)
            let reached = flood(rate, seconds: 4)
            let processor = processorSeconds(process.processIdentifier) - before
            let times = xmpp.times
            guard !times.isEmpty else { continue }
            let slow = times[min(times.count - 1, times.count * 99 / 100)] * 1000
            print(
                "asked \(rate) a second, answered \(Int(reached)); half within \(Int(times[times.count / 2] * 1000)) ms, "
                    + "99 of 100 within \(Int(slow)) ms; unanswered \(xmpp.unanswered); "
                    + "kalij-push took \(Int(processor / Double(times.count) * 1e6)) µs of CPU for each")
            most = max(most, reached)
            if rate == 5_000 { late = slow }
        }
        return [
            Figure(name: "pushes a second, end to end", value: most, bound: 10_000, isLeast: true),
            Figure(name: "99 of 100 are answered within, at 5,000 a second", value: late, unit: " ms", bound: 100),
        ]
    }

    /// Publishes at a rate, a batch every 5 ms.
    /// - Returns: answers a second.
    private func flood(_ rate: Int, seconds: Double) -> Double {
        let began = Date()
        let before = xmpp.answered
        var sent = 0
        while case let passed = Date().timeIntervalSince(began), passed < seconds {
            var batch = ""
            while Double(sent) < passed * Double(rate) {
                number += 1
                sent += 1
                let digits = String(number, radix: 16)
                batch += xmpp.makePublish(String(repeating: "a", count: 64 - digits.count) + digits).text
            }
            xmpp.send(batch)
            usleep(5_000)
        }
        xmpp.wait(seconds: 20) { xmpp.unanswered == 0 }
        return Double(xmpp.answered - before) / Date().timeIntervalSince(began)
    }
}
