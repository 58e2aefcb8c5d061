/// Runs what is to be kept one after the other, in the order in which the person did it: a draft never overtakes the message that it became.
@MainActor
public final class Writes {
    private var last: Task<Void, Never>?

    public nonisolated init() {}

    /// Runs `body` after everything that was given before.
    public func add(_ body: @escaping @MainActor () async -> Void) {
        let before = last
        last = Task {
            await before?.value
            await body()
        }
    }

    /// Waits until everything given so far has run, or the time is over.
    public func finish(within time: Duration) async {
        guard let last else { return }
        let (stream, end) = AsyncStream.makeStream(of: Void.self)
        let timer = Task {
            try? await Task.sleep(for: time)
            end.finish()
        }
        Task {
            await last.value
            end.finish()
        }
        for await _ in stream {}
        timer.cancel()
    }
}
