import KalijCore
import KalijStream
import KalijTransport
import KalijXML

/// Closes a stream: everything received is discarded, except the server's closing stream tag (RFC 6120 section 4.4).
///
/// ejabberd handles a closed connection before the closing stream tag that was received with it, and then keeps the session for
/// resumption. The connection therefore remains open until the server has responded.
package final class StreamCloser {
    private var parser: StreamParser
    private var finished: ((Bool) -> Void)?
    private var deadline: Timer?

    /// - Parameters:
    ///   - seconds: the timeout for the response.
    ///   - finished: called once, with whether the server has responded.
    package init(
        _ parser: StreamParser, on loop: any Scheduler, within seconds: Double, _ finished: @escaping (Bool) -> Void
    ) {
        (self.parser, self.finished) = (parser, finished)
        deadline = loop.schedule(after: seconds) { [weak self] in self?.end(false) }
    }

    package func handle(_ event: ConnectionEvent) {
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
