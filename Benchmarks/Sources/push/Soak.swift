import Foundation
import KalijPushLab

/// The real command between stand-ins for a long time, with reconnects, reloads and provider faults. Compares the
/// resident memory at the end with the memory after a third of the time; every publish has to be answered.
final class Soak {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let folder: String
    private let seconds: Double
    private let rate: Int
    private let xmpp: LabComponentServer
    private let process = Process()
    private let faults = SoakFaults()
    private var apple: LabServer?
    private let applePort: UInt16
    private var generator = SystemRandomNumberGenerator()
    private var began = Date()
    private var account = SoakAccount()
    /// Sent on a connection that was then cut off: nobody can say whether they arrived.
    private var cutOff: [(at: Double, ids: Set<String>)] = []

    /// - Parameters:
    ///   - folder: holds certificate.pem and key.pem for localhost, and ec.p8.
    ///   - rate: publishes a second.
    init(_ command: String, _ folder: String, minutes: Double, rate: Int) throws {
        self.folder = folder
        self.rate = rate
        seconds = minutes * 60
        xmpp = try LabComponentServer(key: "k")
        let server = try Self.makeApple(folder, port: 0, faults)
        apple = server
        applePort = server.port
        try Data().write(to: URL(fileURLWithPath: folder + "/log"))
        process.executableURL = URL(fileURLWithPath: command)
        process.arguments = ["serve", folder + "/settings.json"]
        process.standardError = FileHandle(forWritingAtPath: folder + "/log")
    }

    private static func makeApple(_ folder: String, port: UInt16, _ faults: SoakFaults) throws -> LabServer {
        var options = LabServer.Options(certificate: folder + "/certificate.pem", key: folder + "/key.pem")
        options.port = port
        return try LabServer(options) { faults.answer($0) }
    }

    /// Settings with different texts; every third version has an error.
    private func writeSettings(_ version: Int) throws {
        let endpoint = #"{"host": "localhost", "port": \#(applePort), "caFile": "\#(folder)/certificate.pem"}"#
        let wrong = version % 3 == 2 ? #""nonsense": 1, "# : ""
        let settings = """
            {\(wrong)"component": {"componentHostname": "push.localhost", "componentKey": "k",
             "serverHostname": "127.0.0.1", "serverPort": \(xmpp.port)}, "timeout": {"xmppconnectionError": "1s"},
             "limits": {"deadTokens": 10000, "newTokenFailures": 10000, "probe": "1s"},
             "state": {"database": "\(folder)/push.db", "secretFile": "\(folder)/secret"},
             "pushModules": {"m": {"type": "apple", "is_default_module": true, "apns": {"keyFilePath": "\(folder)/ec.p8",
             "keyId": "KEYID", "teamId": "TEAMID", "topic": "org.example.app", "title": "Version \(version)",
             "endpoint": \(endpoint)}}}}
            """
        try Data(settings.utf8).write(to: URL(fileURLWithPath: folder + "/settings.json"))
    }

    /// Runs the whole soak, and prints a line each minute.
    /// - Throws: ``Failure`` with the broken promise.
    func run() throws {
        try writeSettings(0)
        try process.run()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        guard xmpp.wait(seconds: 10, until: { xmpp.isReady }) else {
            let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
            throw Failure(description: "not connected: \(log)")
        }
        began = Date()
        var tick = 0
        while case let passed = Date().timeIntervalSince(began), passed < seconds {
            if Int(passed) > tick {
                tick = Int(passed)
                try second(tick)
            }
            publish(upTo: passed)
            usleep(10_000)
        }
        try end()
    }

    private func publish(upTo passed: Double) {
        let due = Int(passed * Double(rate)) - account.due
        guard due > 0 else { return }
        account.due += due
        // Without a connection nothing is sent; publishes due then are not made up for.
        guard xmpp.isReady else { return }
        var batch = ""
        for _ in 0..<due { batch += nextPublish() }
        xmpp.send(batch)
        account.publishes += due
    }

    /// Mostly one of so many tokens that a third or so is queued or covered; now and then a dead token, or nonsense.
    private func nextPublish() -> String {
        let draw = Int.random(in: 0..<1_000, using: &generator)
        if draw == 0 { return xmpp.makePublish("no token", domain: "bad.example").text }
        let number = Int.random(in: 0..<(draw < 5 ? 100 : rate * 30), using: &generator)
        let digits = String(10_000_000 + number)
        let token =
            draw < 5 ? String(repeating: "b", count: 52) + digits + "dead" : String(repeating: "a", count: 56) + digits
        return xmpp.makePublish(token, important: draw % 2 == 0, domain: "d\(number % 200).example").text
    }

    // MARK: Faults

    private func second(_ tick: Int) throws {
        if tick % 20 == 0 { disconnect(inOrder: tick % 40 == 0) }
        if tick % 30 == 7 {
            account.reloads += 1
            try writeSettings(account.reloads)
            kill(process.processIdentifier, SIGHUP)
        }
        if tick % 30 == 11 {
            try begin(SoakFaults.Phase.allCases[1 + tick / 30 % (SoakFaults.Phase.allCases.count - 1)])
        }
        if tick % 30 == 16 { try begin(.none) }
        account.take(xmpp.takeAnswers())
        forgetCutOff()
        let late = xmpp.unanswered(for: 15).subtracting(cutOff.flatMap(\.ids)).count
        if late > 0 { throw Failure(description: "\(late) publishes unanswered for 15 s; \(processorUse())") }
        guard process.isRunning else { throw Failure(description: "the server has ended by itself") }
        account.sample(tick, process.processIdentifier)
        if tick % 60 == 0 { print(account.line(minute: tick / 60, delivered: faults.delivered, xmpp.connections)) }
        fflush(nil)
    }

    /// Whether the machine gave the server too little time (proc(5), schedstat: of the main thread, which does all the
    /// work).
    private func processorUse() -> String {
        let id = process.processIdentifier
        let text = (try? String(contentsOfFile: "/proc/\(id)/schedstat", encoding: .utf8)) ?? ""
        let times = text.split(separator: " ").compactMap { Double($0) }
        guard times.count >= 2 else { return "" }
        return String(
            format: "it ran for %.1f s and waited %.1f s for a processor", times[0] / 1e9, times[1] / 1e9)
    }

    private func disconnect(inOrder: Bool) {
        guard xmpp.isReady else { return }
        if inOrder { return xmpp.endStream() }
        xmpp.cut()
        cutOff.append((Date().timeIntervalSince1970, xmpp.unanswered(for: 0)))
    }

    /// Publishes sent on a cut connection have some time to be answered on the next connection.
    private func forgetCutOff() {
        guard let first = cutOff.first, Date().timeIntervalSince1970 - first.at > 12 else { return }
        cutOff.removeFirst()
        let lost = xmpp.unanswered(for: 12).intersection(first.ids)
        account.lostWithCuts += lost.count
        xmpp.forget(lost)
    }

    private func begin(_ phase: SoakFaults.Phase) throws {
        faults.begin(phase)
        if phase == .down {
            apple?.stop()
            apple = nil
        } else if apple == nil {
            apple = try Self.makeApple(folder, port: applePort, faults)
        }
    }

    // MARK: The end

    private func end() throws {
        try begin(.none)
        xmpp.wait(seconds: 15) {
            forgetCutOff()
            return xmpp.unanswered == 0
        }
        account.take(xmpp.takeAnswers())
        let open = xmpp.unanswered
        let id = process.processIdentifier
        let (processor, waits) = (processorSeconds(id), processorUse())
        kill(id, SIGTERM)
        process.waitUntilExit()
        let (third, last) = (account.resident(around: seconds / 3), account.resident(around: seconds))
        print(
            """
            \(account.publishes) publishes, \(faults.delivered) pushes, \(xmpp.connections) connections, \
            \(account.reloads) reloads, CPU \(Int(processor)) s of \(Int(seconds)) s
            answers: \(account.summary)
            \(waits)
            lost with a connection cut off \(account.lostWithCuts), unanswered \(open), \
            answered twice or unasked \(xmpp.repeated), longest wait \(String(format: "%.1f", account.longest)) s
            resident memory: \(third) kB after a third, \(last) kB at the end, \(last - third) kB more
            """)
        var wrong: [String] = []
        if open > 0 { wrong.append("\(open) publishes unanswered") }
        if xmpp.repeated > 0 { wrong.append("\(xmpp.repeated) answers to nothing") }
        if account.longest > 10 { wrong.append("an answer after more than 10 s") }
        if last - third > 5_000 { wrong.append("the memory grows") }
        if process.terminationStatus != 0 { wrong.append("exit status \(process.terminationStatus)") }
        if !wrong.isEmpty { throw Failure(description: wrong.joined(separator: ", ")) }
    }
}
