import KalijPush

/// A core with a clock moved by the test, and the core's actions in words.
struct Drill {
    var core: PushCore
    var now: Milliseconds = 1_700_000_000_000
    private var number = 0

    static let token = String(repeating: "ab", count: 32)

    init(
        provider: ModuleSettings.Provider = .log, background: Bool = false,
        _ change: (inout Settings) -> Void = { _ in }
    ) throws {
        let component = #""componentHostname": "p", "componentKey": "k", "serverHostname": "h", "serverPort": 1"#
        var settings = try Settings(
            json: Array(
                #"{"component": {\#(component)}, "pushModules": {"m": {"type": "log", "is_default_module": true}}}"#
                    .utf8))
        settings.modules["m"]?.provider = provider
        settings.modules["m"]?.backgroundForUnimportant = background
        change(&settings)
        core = PushCore(
            settings: settings, hasher: try KeyHasher(secret: [UInt8](repeating: 7, count: 32)), seed: 1)
    }

    /// Publishes; returns the actions.
    mutating func publish(
        _ token: String = Drill.token, domain: String = "example.org", module: String? = nil, important: Bool = true
    ) -> [String] {
        number += 1
        let requester = Requester(id: "\(number)", from: domain, to: "p")
        return words(
            core.publish(
                Publish(
                    requester: requester, domain: domain, token: token, module: module, isImportant: important),
                now: now)
        )
    }

    /// Publishes with a success, so that the token is known; the window is over afterwards.
    mutating func know(_ token: String, domain: String = "example.org") {
        _ = publish(token, domain: domain)
        _ = deliver(.delivered, core.lastID)
        _ = pass(20_000)
    }

    mutating func malformed(domain: String = "example.org") -> [String] {
        number += 1
        return words(core.malformed(Requester(id: "\(number)", from: domain, to: "p"), domain: domain, now: now))
    }

    mutating func deliver(_ verdict: Verdict, _ id: UInt64) -> [String] {
        words(core.deliver(verdict, of: id, now: now))
    }

    /// Lets time pass, step by step, so that everything happens in time.
    mutating func pass(_ milliseconds: Milliseconds) -> [String] {
        let end = now + milliseconds
        var all: [String] = []
        while let next = core.next, next <= end {
            now = max(now, next)
            all += words(core.tick(now: now))
        }
        now = end
        return all + words(core.tick(now: now))
    }

    func words(_ actions: [CoreAction]) -> [String] {
        actions.compactMap { action in
            switch action {
            case .redis, .position, .exclude: "\(action)"
            case .answer(let requester, let answer): "answer \(requester.id) \(answer)"
            case .send(let delivery):
                "send \(delivery.id)\(delivery.isBackground ? " background" : "")"
                    + (delivery.needsFreshCredentials ? " fresh" : "")
            case .keep(let row): "keep \(row.id) attempts \(row.attempts)\(row.isImportant ? " important" : "")"
            case .drop(let id): "drop \(id)"
            case .know, .success: nil
            case .hit(let hit): "hit \((hit.until - now) / 1000) s"
            case .notice(_, let text): "notice \(text)"
            case .block(let change): "block \(change.reason) \((change.expires - now) / 1000) s"
            case .alarm(_, let text, let isOver): "alarm \(text)\(isOver ? " (over)" : "")"
            }
        }
    }
}
