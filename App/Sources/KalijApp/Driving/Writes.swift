/// Serializes writes in the order of the user's actions: a draft never overtakes the message that it became.
@MainActor
public final class Writes {
    private var last: Task<Void, Never>?

    public nonisolated init() {}

    /// Runs `body` after all earlier ones.
    public func add(_ body: @escaping @MainActor () async -> Void) {
        let before = last
        last = Task {
            await before?.value
            await body()
        }
    }

    /// Waits until all bodies added so far have run, or the time has passed.
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
