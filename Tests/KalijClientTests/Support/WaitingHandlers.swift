import KalijHandlers
import KalijCoordination
import KalijStore
import KalijXML
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Handlers of an application that keeps a log in a table of its own.
enum Log: Feature {
    static let name = "org.example.log"
    static let handlerPrefix = "log"
    static let handlers: [any Handler<Step>.Type] = [
        Logged.self, Silent.self, Failing.self, Rung.self, Awaited.self, Doubled.self, AsksAgain.self, Settles.self,
    ]

    static func write(_ text: String, in step: Step) throws {
        try step.database.execute("CREATE TABLE IF NOT EXISTS log(text)")
        try step.database.run("INSERT INTO log VALUES (?)", [.text(text)])
    }

    struct Logged: InvalidatableHandler {
        static let name = "log.logged"
        var text: String
        func call(_ reply: IQReply, in step: Step) throws {
            switch reply {
            case .result: try Log.write("\(text): result", in: step)
            case .error(let error, _): try Log.write("\(text): \(error.condition.rawValue)", in: step)
            case .timeout: try Log.write("\(text): timeout", in: step)
            }
        }
        func invalidate(_ reason: Invalidation, in step: Step) throws { try Log.write("\(text): \(reason)", in: step) }
    }

    /// Without an invalidation.
    struct Silent: Handler {
        static let name = "log.silent"
        func call(_ reply: IQReply, in step: Step) throws { try Log.write("silent called", in: step) }
    }

    struct Failing: InvalidatableHandler {
        struct Failure: Error {}
        static let name = "log.failing"
        func call(_ reply: IQReply, in step: Step) throws { try fail(step) }
        func invalidate(_ reason: Invalidation, in step: Step) throws { try fail(step) }
        private func fail(_ step: Step) throws {
            try Log.write("failing", in: step)
            try step.send(Element("presence", xmlns: "jabber:client"))
            throw Failure()
        }
    }

    struct Rung: InvalidatableHandler {
        static let name = "log.rung"
        var text: String
        func call(_: Void, in step: Step) throws { try Log.write("\(text) rung", in: step) }
        func invalidate(_ reason: Invalidation, in step: Step) throws { try Log.write("\(text): \(reason)", in: step) }
    }

    struct Awaited: Handler {
        static let name = "log.awaited"
        var text: String
        func call(_ outcome: PromiseOutcome<Int>, in step: Step) throws {
            switch outcome {
            case .resolved(let value): try Log.write("\(text) \(value)", in: step)
            case .rejected(let rejection): try Log.write("\(text) \(rejection.reason)", in: step)
            }
        }
    }

    /// A link of a chain.
    struct Doubled: Handler {
        static let name = "log.doubled"
        func call(_ link: PromiseLink<Int, Int>, in step: Step) throws {
            switch link.outcome {
            case .resolved(let value): try step.resolve(link.next, with: value * 2)
            case .rejected(let rejection): try step.reject(link.next, with: rejection)
            }
        }
    }

    /// Asks once more when the session is lost.
    struct AsksAgain: InvalidatableHandler {
        static let name = "log.asks-again"
        func call(_ reply: IQReply, in step: Step) throws { try Log.write("asked again", in: step) }
        func invalidate(_ reason: Invalidation, in step: Step) throws { try step.send(.question(to: nil), then: self) }
    }

    /// Settles the bound promise.
    struct Settles: InvalidatableHandler {
        static let name = "log.settles"
        var promise: Promise<Int>
        func call(_ reply: IQReply, in step: Step) throws {
            if case .timeout = reply {
                try step.reject(promise, with: .timeout)
            } else {
                try step.resolve(promise, with: 1)
            }
        }
        func invalidate(_ reason: Invalidation, in step: Step) throws {
            try step.reject(promise, with: Rejection(reason.name))
        }
    }
}

extension Element {
    static func question(to recipient: String?) -> Element {
        let iq = Element("iq", xmlns: "jabber:client", attributes: ["type": "get"])
        iq["to"] = recipient
        iq.add(Element("query", xmlns: "urn:example:question"))
        return iq
    }
}

extension StepHarness {
    /// A harness after catch-up, with the application's handlers.
    static func logging() throws -> StepHarness {
        let harness = try StepHarness(features: [Log.self])
        try harness.bind(answered: .all)
        try harness.answerFeatures(archive: false)
        try harness.assumeAnswered(.bookmarks, .displayed)
        try harness.acknowledgeAll()
        return harness
    }

    /// Runs a step of the application.
    @discardableResult
    func perform<Result>(_ body: (Step) throws -> Result) throws -> Result { try run(body).result }

    /// Asks, and lets the question leave.
    func ask(_ text: String, to recipient: String? = nil, within duration: Duration = .seconds(30)) throws -> String {
        let id = try perform { step in
            try step.send(.question(to: recipient), then: Log.Logged(text: text), within: duration)
        }
        try write()
        return id
    }

    func log() throws -> [String] {
        guard try number("SELECT count(*) FROM sqlite_schema WHERE name = 'log'") == 1 else { return [] }
        return try database.prepare("SELECT text FROM log ORDER BY rowid").all { $0.text() }
    }

    /// Another process takes over, with nothing but the database.
    func inAnotherProcess(_ features: [any Feature.Type] = [Log.self]) throws -> SessionSteps {
        SessionSteps(
            runner: StepRunner(
                database: try Database(path: directory.databasePath, durability: .process), fence: fence,
                barrier: Barrier(database), clock: clock.clock,
                features: try Features(features)), account: account)
    }

    func count(_ table: String) throws -> Int64? { try number("SELECT count(*) FROM \(table)") }
}
