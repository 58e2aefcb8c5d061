import Foundation
import KalijHTTP
import KalijPush
import KalijPushLab
import KalijTransport
import KalijXML

// push decisions | push provider CERTIFICATE KEY | push memory | push endtoend COMMAND FOLDER
// | push soak COMMAND FOLDER MINUTES RATE
//
// decisions: how many rate-limited or blocked publishes are handled, against only parsing and answering them.
// provider:  CPU time a request over 4 connections with 100 streams each, against h2load with the same.
// endtoend:  FOLDER holds certificate.pem and key.pem for localhost, ec.p8 and its public key ec.pub.
// memory:    what 1,000,000 blocked and 1,000,000 known tokens cost.
// soak:      the real command for so many minutes, with so many publishes a second and everything that can go wrong.

let domain = "example.org"

func threadSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func childSeconds() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
}

func settings() throws -> Settings {
    let component = #""componentHostname": "p", "componentKey": "k", "serverHostname": "h", "serverPort": 1"#
    let text = #"{"component": {\#(component)}, "pushModules": {"m": {"type": "log", "is_default_module": true}}}"#
    return try Settings(json: Array(text.utf8))
}

func makeCore() throws -> PushCore {
    PushCore(settings: try settings(), hasher: try KeyHasher(secret: [UInt8](repeating: 1, count: 32)), seed: 1)
}

/// A stream of publishes as Prosody sends them, over so many tokens.
func makeStream(_ count: Int, tokens: Int) throws -> [UInt8] {
    let lab = try LabComponentServer(key: "k")
    defer { lab.stop() }
    var text = "<stream:stream xmlns='jabber:component:accept' xmlns:stream='http://etherx.jabber.org/streams' id='1'>"
    for number in 0..<count {
        let token = String(repeating: "0123456789abcdef", count: 3) + String(1_000_000 + number % tokens)
        text += lab.makePublish(token, domain: domain).text
    }
    return Array(text.utf8)
}

func run(_ stream: [UInt8], _ handle: (Inbound) -> Int) throws -> (seconds: Double, bytes: Int) {
    let parser = StreamParser()
    var bytes = 0
    let began = threadSeconds()
    for start in stride(from: 0, to: stream.count, by: 16_384) {
        try parser.feed(Array(stream[start..<min(start + 16_384, stream.count)])) { event in
            guard case .element(let element) = event else { return }
            bytes += handle(Inbound(element, tokenBytes: 1_024))
        }
    }
    return (threadSeconds() - began, bytes)
}

func answers(_ actions: [CoreAction]) -> Int {
    actions.reduce(0) { sum, action in
        guard case .answer(let requester, let answer) = action else { return sum }
        return sum + answer.bytes(for: requester).count
    }
}

func decisions() throws {
    let count = 20_000
    let stream = try makeStream(count, tokens: 1_000)
    for round in 1...5 {
        let plain = try run(stream) { inbound in
            guard case .publish(let publish) = inbound else { return 0 }
            return Answer.done.bytes(for: publish.requester).count
        }
        var limited = try makeCore()
        let now: Milliseconds = 1_700_000_000_000
        _ = try run(stream) { inbound in
            if case .publish(let publish) = inbound { return limited.publish(publish, now: now).count }
            return 0
        }
        let rate = try run(stream) { inbound in
            guard case .publish(let publish) = inbound else { return 0 }
            return answers(limited.publish(publish, now: now))
        }
        var blocked = try makeCore()
        let hasher = try KeyHasher(secret: [UInt8](repeating: 1, count: 32))
        let blocks = (0..<1_000).map { number in
            let token = String(repeating: "0123456789abcdef", count: 3) + String(1_000_000 + number)
            return BlockChange(
                key: hasher.key(token: token, module: "m"), version: 1, expires: now + 80_000_000, reason: .dead)
        }
        _ = blocked.restore(queued: [], blocks: blocks, now: now)
        let block = try run(stream) { inbound in
            guard case .publish(let publish) = inbound else { return 0 }
            return answers(blocked.publish(publish, now: now))
        }
        let each = { (seconds: Double) in String(format: "%.2f", seconds / Double(count) * 1e6) }
        print(
            "round \(round): CPU µs a publish: parsed and answered \(each(plain.seconds)), "
                + "limited \(each(rate.seconds)), blocked \(each(block.seconds)); rates "
                + String(format: "%.2f and %.2f", plain.seconds / rate.seconds, plain.seconds / block.seconds))
    }
}

func provider(certificate: String, key: String) throws {
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
    }
}

func residentMegabytes() -> Double {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return Double(pages.flatMap { Int($0[1]) } ?? 0) * 4096 / 1e6
}

func memory() throws {
    let before = residentMegabytes()
    let now: Milliseconds = 1_700_000_000_000
    let hasher = try KeyHasher(secret: [UInt8](repeating: 1, count: 32))
    var list = Blocklist(limit: 1_000_000)
    var known = KnownTokens(limit: 1_000_000, lifetime: 7 * 86_400_000)
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<1_000_000 {
        let key = HashedKey(high: generator.next(), low: generator.next())
        _ = list.block(key, reason: .dead, for: 86_400_000, again: 1, now: now)
        known.succeeded(HashedKey(high: generator.next(), low: generator.next()), now: now)
    }
    let after = residentMegabytes()
    print("\(list.count) blocked, \(known.count) known: \(Int(after - before)) MB more, \(Int(after)) MB in all")
    withExtendedLifetime((list, known, hasher)) {}
}

/// The real command between stand-ins for an XMPP server and Apple: how many pushes a second, and how long they take at
/// half of that. The stand-ins take their part of the processors.
func endToEnd(_ command: String, _ folder: String) throws {
    var options = LabServer.Options(certificate: folder + "/certificate.pem", key: folder + "/key.pem")
    options.streams = 100
    let apns = try LabAPNs(options, publicKey: folder + "/ec.pub", keeps: false)
    let xmpp = try LabComponentServer(key: "k")
    let endpoint = #"{"host": "localhost", "port": \#(apns.port), "caFile": "\#(folder)/certificate.pem"}"#
    let settings = """
        {"component": {"componentHostname": "push.localhost", "componentKey": "k", "serverHostname": "127.0.0.1",
         "serverPort": \(xmpp.port)}, "limits": {"tokensPerDomain": 10000000},
         "state": {"database": "\(folder)/push.db", "secretFile": "\(folder)/secret"},
         "pushModules": {"m": {"type": "apple", "is_default_module": true, "apns": {"keyFilePath": "\(folder)/ec.p8",
         "keyId": "KEYID", "teamId": "TEAMID", "topic": "org.example.app", "endpoint": \(endpoint)}}}}
        """
    try Data(settings.utf8).write(to: URL(fileURLWithPath: folder + "/settings.json"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command)
    process.arguments = ["serve", folder + "/settings.json"]
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer { process.terminate() }
    xmpp.wait(seconds: 10) { xmpp.isReady }
    var number = 0
    /// Publishes at a rate, a batch every 5 ms; the answers' times in order.
    func flood(_ rate: Int, seconds: Double) -> (reached: Double, times: [Double]) {
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
        let reached = Double(xmpp.answered - before) / Date().timeIntervalSince(began)
        return (reached, xmpp.times)
    }
    _ = flood(1_000, seconds: 1)
    for rate in [5_000, 10_000, 15_000, 20_000] {
        xmpp.forgetAnswers()
        let (reached, times) = flood(rate, seconds: 4)
        guard !times.isEmpty else { continue }
        let late = times[min(times.count - 1, times.count * 99 / 100)]
        print(
            "asked \(rate) a second, answered \(Int(reached)); half within \(Int(times[times.count / 2] * 1000)) ms, "
                + "99 of 100 within \(Int(late * 1000)) ms; unanswered \(xmpp.unanswered)")
    }
    xmpp.stop()
    apns.stop()
}

switch CommandLine.arguments.dropFirst().first {
case "decisions": try decisions()
case "provider" where CommandLine.arguments.count == 4:
    try provider(certificate: CommandLine.arguments[2], key: CommandLine.arguments[3])
case "endtoend" where CommandLine.arguments.count == 4:
    try endToEnd(CommandLine.arguments[2], CommandLine.arguments[3])
case "memory": try memory()
case "soak" where CommandLine.arguments.count == 6:
    let arguments = CommandLine.arguments
    do {
        try Soak(
            arguments[2], arguments[3], minutes: Double(arguments[4]) ?? 30, rate: Int(arguments[5]) ?? 5_000
        ).run()
        print("The soak is passed.")
    } catch let failure as Soak.Failure {
        print("The soak has failed: \(failure)")
        exit(1)
    }
default:
    print(
        "usage: push decisions | push provider CERTIFICATE KEY | push memory | push endtoend COMMAND FOLDER "
            + "| push soak COMMAND FOLDER MINUTES RATE")
    exit(64)
}
