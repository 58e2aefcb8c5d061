import KalijStream
import KalijTransport
import KalijXML

/// The end of a stream: nothing of what comes is of interest but the server's own end (RFC 6120 section 4.4).
///
/// ejabberd handles a closed connection before the stream's end that came with the close, and then keeps the session for its
/// resumption. So the connection stays until the server has answered.
final class StreamCloser {
    private var parser: StreamParser
    private var finished: ((Bool) -> Void)?
    private var deadline: Timer?

    /// - Parameters:
    ///   - seconds: the longest time for the answer.
    ///   - finished: called once, with whether the server has answered.
    init(
        _ parser: StreamParser, on loop: any Scheduler, within seconds: Double, _ finished: @escaping (Bool) -> Void
    ) {
        (self.parser, self.finished) = (parser, finished)
        deadline = loop.schedule(after: seconds) { [weak self] in self?.end(false) }
    }

    func handle(_ event: ConnectionEvent) {
        switch event {
        case .received(let bytes): read(bytes)
        case .closed(nil): end(true)
        case .closed, .failed: end(false)
        case .connected, .secured, .ticket, .drained: break
        }
    }

    private func read(_ bytes: UnsafeRawBufferPointer) {
        var isClosed = false
        do {
            try parser.feed(bytes) { if case .closed = $0 { isClosed = true } }
        } catch {
            return end(false)
        }
        if isClosed { end(true) }
    }

    private func end(_ isAnswered: Bool) {
        deadline?.cancel()
        let finished = finished
        self.finished = nil
        finished?(isAnswered)
    }
}
