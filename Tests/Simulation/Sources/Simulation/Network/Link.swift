import CSimulatedMachine
import KalijStream

/// A TCP connection: bytes arrive late and in pieces, but in order; or not at all any more.
final class Link {
    enum Side { case client, server }

    enum Arrival {
        case bytes([UInt8])
        /// The other side has ended.
        case end
        /// The connection was reset.
        case reset
    }

    private let world: World
    private let latency: ClosedRange<Int64>
    let number: Int
    /// The number of the client's process.
    let process: Int
    /// The data that a login is bound to (RFC 9266).
    let exporter: [UInt8]
    /// What the client has written before the server asked, and the server has not come to yet.
    var letters: Set<EarlyStep> = []
    /// Whether the client has asked for a token.
    var expectsToken = false
    /// How often the client's process had synced when a token came, until the client writes.
    var syncsAtToken: Int?
    /// Whether the client has a session.
    var isInSession = false
    /// Whether the server reads. Otherwise what the client writes waits in the client's process.
    var isRead = true
    /// Called when the server reads again.
    var onRoom: () -> Void = {}
    var onClient: (Arrival) -> Void = { _ in }
    var onServer: (Arrival) -> Void = { _ in }
    /// When the last byte in each direction arrives.
    private var last: [Int64] = [0, 0]
    private(set) var isBroken = false
    /// For the owner of the link: nothing more is to be expected.
    var isOver = false
    /// Each side ends once.
    private var hasEnded = [false, false]

    init(_ world: World, latency: ClosedRange<Int64>, number: Int, process: Int) {
        self.world = world
        self.latency = latency
        (self.number, self.process) = (number, process)
        var random = Seeded(world.seed &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(number))
        exporter = (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    /// How often the client's process has synced.
    func syncs() -> Int { machine_syncs(Int32(process)) }

    func send(_ bytes: [UInt8], from side: Side) {
        guard !isBroken, !hasEnded[side.index] else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            // Now and then in pieces, wherever the network likes to cut.
            let count = world.random.chance(15) ? world.random.pick(1...rest.count) : rest.count
            arrive(.bytes(Array(rest.prefix(count))), from: side)
            rest = rest.dropFirst(count)
        }
    }

    /// Ends one direction after the bytes sent.
    func end(from side: Side) {
        guard !isBroken, !hasEnded[side.index] else { return }
        hasEnded[side.index] = true
        arrive(.end, from: side)
    }

    /// Nothing arrives any more. Both sides are told, or neither is.
    func cut(silently: Bool) {
        guard !isBroken else { return }
        isBroken = true
        guard !silently else { return }
        world.after(world.random.pick(latency)) { [onClient] in onClient(.reset) }
        world.after(world.random.pick(latency)) { [onServer] in onServer(.reset) }
    }

    private func arrive(_ arrival: Arrival, from side: Side) {
        let time = max(last[side.index], world.now + world.random.pick(latency))
        last[side.index] = time
        world.after(time - world.now) { [weak self] in
            guard let self, !isBroken else { return }
            side == .client ? onServer(arrival) : onClient(arrival)
        }
    }
}

extension Link.Side {
    fileprivate var index: Int { self == .client ? 0 : 1 }
}
