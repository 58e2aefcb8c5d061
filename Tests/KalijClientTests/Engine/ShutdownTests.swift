import KalijCoordination
import Testing

@testable import KalijEngine
@testable import KalijClient

/// How an engine ends, as transcripts.
struct ShutdownTests {
    private struct Broken: Error {}
    private static let stale = FenceError.stale(mine: 1, now: 2)

    @Test("an engine that ends by itself goes on for new work, unless it is told to end meanwhile")
    func done() {
        var stopping = ShutdownState()
        var begins = stopping.end(.stopped, isDone: true, at: 0)
        #expect(begins && stopping.isStopping && stopping.isDone)
        stopping.resume()
        #expect(!stopping.isStopping && !stopping.isDone)
        begins = stopping.end(.stopped, isDone: true, at: 0)
        #expect(begins)
        begins = stopping.end(.frozen, isDone: false, at: 0)
        #expect(!begins && stopping.isStopping && !stopping.isDone && stopping.ending == .stopped)
    }

    @Test("an engine that lost the fence lets nothing go; told to end before or after, it does not take over again")
    func fence() {
        var stopping = ShutdownState()
        var letsGo = stopping.failed(Self.stale)
        #expect(!letsGo && stopping.isStopping && stopping.failure is FenceError)
        let begins = stopping.end(.frozen, isDone: false, at: 0)
        #expect(!begins && stopping.failure == nil && stopping.ending == .frozen)
        var told = ShutdownState()
        _ = told.end(.stopped, isDone: false, at: 0)
        letsGo = told.failed(Self.stale)
        #expect(!letsGo && told.failure == nil)
    }

    @Test("the first failure is the reason, and everything is let go")
    func failure() {
        var stopping = ShutdownState()
        let letsGo = stopping.failed(Broken())
        _ = stopping.failed(Self.stale)
        #expect(letsGo && stopping.failure is Broken)
    }

    @Test("the mailbox is waited for within a second where somebody has told the engine to end, else for ten")
    func mailbox() {
        var stopping = ShutdownState()
        _ = stopping.end(.stopped, isDone: true, at: 1_000_000_000)
        #expect(stopping.mailboxTimeout(at: 1_200_000_000) == 0.6 - 0.2)
        #expect(stopping.mailboxTimeout(at: 9_000_000_000) == 0.1)
        #expect(!stopping.abandonsMailbox(at: 10_900_000_000))
        #expect(stopping.abandonsMailbox(at: 11_100_000_000))
        _ = stopping.end(.stopped, isDone: false, at: 1_200_000_000)
        #expect(!stopping.abandonsMailbox(at: 99_000_000_000))
    }
}
