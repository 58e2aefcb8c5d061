/// Drives a TLS handshake on the loop. The peer may be slow, as long as bytes arrive.
final class Handshake {
    private let loop: EventLoop
    private let channel: TLSChannel
    private let limits: ConnectionLimits
    private let begun: Double
    /// The socket's bytes at the beginning, and at the last progress.
    private let receivedBefore: Int
    private var received: Int
    private var watch: Watch?
    private var silence: Timer?
    private var deadline: Timer?
    private var finish: ((Result<TLSInfo, TLSProblem>) -> Void)?

    /// Begins. `finish` is called once from the loop, unless ``cancel()`` is called first.
    init(
        loop: EventLoop, channel: TLSChannel, limits: ConnectionLimits,
        _ finish: @escaping (Result<TLSInfo, TLSProblem>) -> Void
    ) {
        self.loop = loop
        self.channel = channel
        self.limits = limits
        self.finish = finish
        begun = loop.now
        receivedBefore = channel.socket.traffic.received
        received = receivedBefore
        awaitProgress()
        deadline = loop.schedule(after: limits.wholeTLS) { [weak self] in
            guard let self else { return }
            end(.failure(TLSProblem(.tls, "the TLS handshake was not finished within \(Int(limits.wholeTLS)) s")))
        }
        do throws(SystemError) {
            // A connected socket is writable, so the first step is taken in the next turn.
            watch = try loop.watch(channel.socket.descriptor, .write) { [weak self] _ in self?.step() }
        } catch {
            loop.enqueue { [weak self] in self?.end(.failure(TLSProblem(.tls, error.description))) }
        }
    }

    deinit { cancel() }

    /// Cancels the handshake; `finish` is not called. The channel is unusable afterwards.
    func cancel() {
        finish = nil
        watch?.cancel()
        silence?.cancel()
        deadline?.cancel()
    }

    /// A peer whose TCP connection took seconds has as many round trips for an answer.
    private func awaitProgress() {
        silence?.cancel()
        let limit = max(limits.tls, 4 * channel.socket.connectTime)
        silence = loop.schedule(after: limit) { [weak self] in
            self?.end(.failure(TLSProblem(.tls, "no answer to the TLS handshake within \(Int(limit)) s")))
        }
    }

    private func step() {
        // The client's last message leaves with the first bytes of the stream, if these are sent in the event.
        channel.socket.hold(true)
        let progress = channel.handshake()
        if case .done = progress {} else { channel.socket.hold(false) }
        switch progress {
        case .done(var info):
            info.times = HandshakeTimes(
                connect: channel.socket.connectTime, handshake: loop.now - begun,
                received: channel.socket.traffic.received - receivedBefore)
            end(.success(info))
        case .failed(let problem): end(.failure(problem))
        case .blocked(let interest):
            watch?.interest = interest
            guard channel.socket.traffic.received > received else { return }
            received = channel.socket.traffic.received
            awaitProgress()
        }
    }

    private func end(_ result: Result<TLSInfo, TLSProblem>) {
        let finish = finish
        cancel()
        finish?(result)
    }
}
