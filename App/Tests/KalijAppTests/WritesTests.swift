import Testing

@testable import KalijApp

@Suite @MainActor struct WritesTests {
    private final class Log {
        var words: [String] = []
    }

    @Test func `What is kept is kept in order, however long each takes`() async {
        let (writes, log) = (Writes(), Log())
        writes.add {
            for _ in 0..<100 { await Task.yield() }
            log.words.append("draft")
        }
        writes.add { log.words.append("message") }
        await writes.finish(within: .seconds(20))
        #expect(log.words == ["draft", "message"])
    }

    @Test func `The end waits no longer than it is told`() async {
        let (writes, log) = (Writes(), Log())
        let (never, end) = AsyncStream.makeStream(of: Void.self)
        writes.add {
            for await _ in never {}
            log.words.append("late")
        }
        await writes.finish(within: .milliseconds(10))
        #expect(log.words.isEmpty)
        end.finish()
        await writes.finish(within: .seconds(20))
        #expect(log.words == ["late"])
    }
}
