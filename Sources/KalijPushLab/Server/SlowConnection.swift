import Glibc
import KalijTransport

/// A connection through a ``LabSlowLink``. The end of a side arrives as late as its bytes, and ends both sides.
final class SlowConnection {
    /// Bytes in transit in a direction; empty for the end.
    private struct Parcel {
        var due: Double
        var bytes: ArraySlice<UInt8>
    }

    private struct Lane {
        var from: Int32
        var to: Int32
        var parcels: [Parcel] = []
        var timer: Timer?
    }

    private let loop: EventLoop
    private let delay: Double
    private let ended: () -> Void
    /// To the server, and to the client.
    private var lanes: [Lane]
    private var watches: [Watch?] = [nil, nil]
    private var isOver = false

    init(_ loop: EventLoop, _ client: Int32, _ server: Int32, _ delay: Double, ended: @escaping () -> Void) {
        self.loop = loop
        self.delay = delay
        self.ended = ended
        lanes = [Lane(from: client, to: server), Lane(from: server, to: client)]
        for side in 0...1 {
            watches[side] = try? loop.watch(lanes[side].from, .read) { [weak self] ready in
                if ready.contains(.writable) { self?.deliver(1 - side) }
                if ready.contains(.readable) || ready.contains(.hangup) { self?.read(side) }
            }
        }
    }

    func end() {
        guard !isOver else { return }
        isOver = true
        for side in 0...1 {
            watches[side]?.cancel()
            lanes[side].timer?.cancel()
            close(lanes[side].from)
        }
        loop.enqueue(ended)
    }

    /// A line has room foreverything in transit.
    private func read(_ side: Int) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isOver {
            let count = recv(lanes[side].from, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            lanes[side].parcels.append(Parcel(due: loop.now + delay, bytes: buffer[..<max(0, count)]))
            plan(side)
            guard count > 0 else {
                // Nothing more arrives, and an ended socket would be readable forever.
                watches[side]?.interest.remove(.read)
                return
            }
        }
    }

    private func plan(_ side: Int) {
        guard !isOver, lanes[side].timer == nil, let next = lanes[side].parcels.first else { return }
        lanes[side].timer = loop.schedule(after: next.due - loop.now) { [weak self] in
            self?.lanes[side].timer = nil
            self?.deliver(side)
        }
    }

    private func deliver(_ side: Int) {
        let now = loop.now
        var done = 0
        defer { if !isOver { lanes[side].parcels.removeFirst(done) } }
        while !isOver, done < lanes[side].parcels.count, lanes[side].parcels[done].due <= now {
            guard !lanes[side].parcels[done].bytes.isEmpty else { return end() }
            let sent = lanes[side].parcels[done].bytes.withUnsafeBytes {
                Glibc.send(lanes[side].to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else {
                guard errno == EAGAIN || errno == EINTR else { return end() }
                watches[1 - side]?.interest.insert(.write)
                return
            }
            lanes[side].parcels[done].bytes.removeFirst(sent)
            if lanes[side].parcels[done].bytes.isEmpty { done += 1 }
        }
        watches[1 - side]?.interest.remove(.write)
        loop.enqueue { [weak self] in self?.plan(side) }
    }
}
