import KalijHandlers
import KalijStore
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// "Promises: resolve, reject, chain, several waiting handlers, await in a living process; resolved once over any number of
/// deaths; nothing leaks when nobody is left to wait."
struct PromiseTests {
    @Test("every waiting handler is called once, in the order of waiting, in any process that settles the promise")
    func resolved() throws {
        let harness = try StepHarness.logging()
        let promise = try harness.perform { step in
            let promise = try step.promise(of: Int.self)
            for text in ["a", "b", "c"] { try step.then(promise, Log.Awaited(text: text)) }
            return promise
        }
        let other = try harness.inAnotherProcess()
        var isFirst = [false, false]
        _ = try other.runner.run("test", for: harness.account) { isFirst[0] = try $0.resolve(promise, with: 7) }
        try harness.perform { isFirst[1] = try $0.resolve(promise, with: 8) }
        #expect(try !harness.perform { try $0.reject(promise, with: Rejection("no")) })
        #expect(isFirst == [true, false])
        #expect(try harness.log() == ["a 7", "b 7", "c 7"])
        #expect(try harness.count("waiter") == 0)
    }

    @Test("an undone step leaves the promise and its handlers unchanged")
    func undone() throws {
        let harness = try StepHarness.logging()
        let promise = try harness.perform { step in
            let promise = try step.promise(of: Int.self)
            try step.then(promise, Log.Awaited(text: "a"))
            return promise
        }
        #expect(throws: Log.Failing.Failure.self) {
            try harness.perform { step in
                try step.resolve(promise, with: 1)
                throw Log.Failing.Failure()
            }
        }
        #expect(try harness.count("waiter") == 1)
        try harness.perform { _ = try $0.resolve(promise, with: 2) }
        #expect(try harness.log() == ["a 2"])
    }

    @Test("a handler that waits for a settled promise is called at once, and too late with `forgotten`")
    func late() throws {
        let harness = try StepHarness.logging()
        let promise = try harness.perform { try $0.promise(of: Int.self) }
        try harness.perform { _ = try $0.resolve(promise, with: 7) }
        try harness.perform { try $0.then(promise, Log.Awaited(text: "late")) }
        harness.clock.move(by: 25 * 3600 * 1000)
        #expect(try harness.steps.due() == nil)
        #expect(try harness.count("promise") == 0)
        try harness.perform { try $0.then(promise, Log.Awaited(text: "too late")) }
        #expect(try harness.log() == ["late 7", "too late forgotten"])
        #expect(try harness.count("waiter") == 0)
    }

    @Test("a chain: the result of one link settles the next, over deaths in between")
    func chained() throws {
        let harness = try StepHarness.logging()
        let first = try harness.perform { step in
            let first = try step.promise(of: Int.self)
            let second: Promise<Int> = try step.chain(first, Log.Doubled())
            let third: Promise<Int> = try step.chain(second, Log.Doubled())
            try step.then(third, Log.Awaited(text: "end"))
            return first
        }
        let other = try harness.inAnotherProcess()
        _ = try other.runner.run("test", for: harness.account) { _ = try $0.resolve(first, with: 3) }
        #expect(try harness.log() == ["end 12"])
    }

    /// A version of the application that has lost a handler.
    private enum Forgetful: Feature {
        static let name = "org.example.log"
        static let handlerPrefix = "log"
        static var handlers: [any Handler<Step>.Type] { Log.handlers.filter { $0.name != "log.doubled" } }
    }

    @Test("a rejection goes along the chain; a link that cannot be called rejects the rest")
    func rejected() throws {
        let harness = try StepHarness.logging()
        let promises = try harness.perform { step in
            let promises = [try step.promise(of: Int.self), try step.promise(of: Int.self)]
            for promise in promises {
                let next: Promise<Int> = try step.chain(promise, Log.Doubled())
                try step.then(next, Log.Awaited(text: "end"))
            }
            return promises
        }
        try harness.perform { _ = try $0.reject(promises[0], with: Rejection("no")) }
        let other = try harness.inAnotherProcess([Forgetful.self])
        _ = try other.runner.run("test", for: harness.account) { _ = try $0.resolve(promises[1], with: 3) }
        #expect(try harness.log() == ["end no", "end dead letter"])
        #expect(try harness.count("dead_letter") == 1)
    }

    @Test("a promise can follow another one")
    func following() throws {
        let harness = try StepHarness.logging()
        let other = try harness.perform { step in
            let (one, other) = (try step.promise(of: Int.self), try step.promise(of: Int.self))
            try step.then(one, Log.Awaited(text: "one"))
            try step.settle(one, following: other)
            return other
        }
        try harness.perform { _ = try $0.resolve(other, with: 5) }
        #expect(try harness.log() == ["one 5"])
    }

    @Test("an unsettled promise is rejected at its deadline; nothing is left a day later")
    func timeout() throws {
        let harness = try StepHarness.logging()
        try harness.perform { step in
            try step.then(step.promise(within: .seconds(10)), Log.Awaited(text: "one"))
            _ = try step.promise(of: Int.self, within: .seconds(10))
        }
        #expect(try harness.steps.nextTimer() == harness.clock.now + 10_000)
        harness.clock.move(by: 10_000)
        while try harness.steps.due() != nil {}
        #expect(try harness.log() == ["one timeout"])
        harness.clock.move(by: 24 * 3600 * 1000)
        while try harness.steps.due() != nil {}
        #expect(try harness.count("promise") == 0 && harness.count("waiter") == 0)
    }

    @Test("a promise settled by a process without handlers: the driver calls the waiting handlers")
    func settledElsewhere() throws {
        let harness = try StepHarness.logging()
        let promise = try harness.perform { step in
            let promise = try step.promise(of: Int.self)
            try step.then(promise, Log.Awaited(text: "a"))
            return promise
        }
        try Step.accept(for: harness.account, in: harness.database, clock: harness.clock.clock) { step in
            _ = try step.resolve(promise, with: 4)
        }
        #expect(try harness.log().isEmpty)
        while try harness.steps.due() != nil {}
        #expect(try harness.log() == ["a 4"])
    }

    @Test("an answer settles a promise bound by its handler, and so does an invalidation")
    func bound() throws {
        let harness = try StepHarness.logging()
        let ids = try harness.perform { step in
            try (0..<2).map { _ in
                let promise = try step.promise(of: Int.self)
                try step.then(promise, Log.Awaited(text: "answer"))
                return try step.send(.question(to: nil), then: Log.Settles(promise: promise), within: .seconds(900))
            }
        }
        try harness.write()
        try harness.receive("<iq type='result' id='\(ids[0])'/>")
        _ = try harness.steps.resumeFailed(nil)
        try harness.bind(resumeID: "session-2", answered: .all)
        #expect(try harness.log() == ["answer 1", "answer session lost"])
    }
}
