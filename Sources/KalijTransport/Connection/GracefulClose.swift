/// Closes a connection in order: queued bytes, close_notify, FIN, and then a wait for the peer's end, so that no
/// written bytes are lost to a reset. After a time limit the connection is closed at once.
final class GracefulClose {
    private let loop: EventLoop
    private let channel: any Channel
    private var queue: SendQueue
    private var watch: Watch?
    private var deadline: Timer?
    private let finished: (() -> Void)?
    private var hasEndedWriting = false

    /// Lives until the end: the loop holds a reference.
    init(
        loop: EventLoop, channel: any Channel, queue: SendQueue, limit: Double, finished: (() -> Void)?
    ) {
        self.loop = loop
        self.channel = channel
        self.queue = queue
        self.finished = finished
        deadline = loop.schedule(after: limit) { self.end() }
        watch = try? loop.watch(channel.socket.descriptor, .write) { _ in self.step() }
        if watch == nil { loop.enqueue { self.end() } }
    }

    private func step() {
        if !hasEndedWriting { write() }
        if hasEndedWriting { awaitEnd() }
    }

    private func write() {
        while !queue.isEmpty {
            switch queue.withNext(channel.write) {
            case .wrote(let count): queue.drop(count)
            case .blocked(let interest):
                channel.socket.beginReading()
                watch?.interest = interest
                return
            case .failed: return end()
            }
        }
        switch channel.endWriting() {
        case .wrote:
            channel.socket.endWriting()
            hasEndedWriting = true
            watch?.interest = .read
        case .blocked(let interest): watch?.interest = interest
        case .failed: end()
        }
    }

    private func awaitEnd() {
        channel.socket.beginReading()
        // Bytes that still arrive are discarded, and not even decrypted.
        for _ in 0..<16 {
            guard let start = loop.scratch.baseAddress else { return end() }
            let count = channel.socket.read(start, loop.scratch.count)
            if count == 0 { return end() }
            if count < 0 {
                if !channel.socket.wouldBlock { end() }
                return
            }
        }
    }

    private func end() {
        guard watch != nil || deadline != nil else { return }
        watch?.cancel()
        watch = nil
        deadline?.cancel()
        deadline = nil
        channel.socket.close()
        finished?()
    }
}
