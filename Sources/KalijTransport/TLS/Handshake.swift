/// Drives a TLS handshake on the loop, within a time limit.
final class Handshake {
    private let channel: TLSChannel
    private var watch: Watch?
    private var deadline: Timer?
    private var finish: ((Result<TLSInfo, TLSProblem>) -> Void)?

    /// Begins. `finish` is called once from the loop, unless ``cancel()`` comes first; the limit is in seconds.
    init(
        loop: EventLoop, channel: TLSChannel, limit: Double, _ finish: @escaping (Result<TLSInfo, TLSProblem>) -> Void
    ) {
        self.channel = channel
        self.finish = finish
        deadline = loop.schedule(after: limit) { [weak self] in
            self?.end(.failure(TLSProblem(.tls, "no answer to the TLS handshake within \(Int(limit)) s")))
        }
        do throws(SystemError) {
            // A connected socket is writable, so the first step is taken in the next turn.
            watch = try loop.watch(channel.socket.descriptor, .write) { [weak self] _ in self?.step() }
        } catch {
            loop.enqueue { [weak self] in self?.end(.failure(TLSProblem(.tls, error.description))) }
        }
    }

    deinit { cancel() }

    /// Gives up, without a word. The channel is of no use afterwards.
    func cancel() {
        finish = nil
        watch?.cancel()
        deadline?.cancel()
    }

    private func step() {
        switch channel.handshake() {
        case .done(let info): end(.success(info))
        case .failed(let problem): end(.failure(problem))
        case .blocked(let interest): watch?.interest = interest
        }
    }

    private func end(_ result: Result<TLSInfo, TLSProblem>) {
        let finish = finish
        cancel()
        finish?(result)
    }
}
