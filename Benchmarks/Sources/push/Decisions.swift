import Foundation
import KalijPush
import KalijPushLab
import KalijXML

func settings() throws -> Settings {
    let component = #""componentHostname": "p", "componentKey": "k", "serverHostname": "h", "serverPort": 1"#
    let text = #"{"component": {\#(component)}, "pushModules": {"m": {"type": "log", "is_default_module": true}}}"#
    return try Settings(json: Array(text.utf8))
}

func makeCore() throws -> PushCore {
    PushCore(settings: try settings(), hasher: try KeyHasher(secret: [UInt8](repeating: 1, count: 32)), seed: 1)
}

/// A stream of publishes in Prosody's form, over so many tokens.
func makeStream(_ count: Int, tokens: Int) throws -> [UInt8] {
    let lab = try LabComponentServer(key: "k")
    defer { lab.stop() }
    var text = "<stream:stream xmlns='jabber:component:accept' xmlns:stream='http://etherx.jabber.org/streams' id='1'>"
    for number in 0..<count {
        let token = String(repeating: "0123456789abcdef", count: 3) + String(1_000_000 + number % tokens)
        text += lab.makePublish(token, domain: "example.org").text
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

/// How many rate-limited or blocked publishes are handled, against only parsing and answering them.
func decisions() throws -> [Figure] {
    let count = 20_000
    let stream = try makeStream(count, tokens: 1_000)
    var (limitedRates, blockedRates): ([Double], [Double]) = ([], [])
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
        limitedRates.append(plain.seconds / rate.seconds)
        blockedRates.append(plain.seconds / block.seconds)
    }
    return [
        Figure(
            name: "rate of limited publishes, of that of parsing and answering", value: limitedRates.median, bound: 0.5,
            isLeast: true),
        Figure(
            name: "rate of blocked publishes, of that of parsing and answering", value: blockedRates.median, bound: 0.5,
            isLeast: true),
    ]
}
