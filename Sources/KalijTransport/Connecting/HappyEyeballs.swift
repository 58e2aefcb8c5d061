import CCares
import Glibc

/// Tries the addresses of a host until the first TCP connection is established (RFC 8305, "Happy Eyeballs").
///
/// IPv6 and IPv4 take turns, IPv6 first. The next address is tried when the address before has failed, or has not
/// answered within the stagger; earlier addresses stay in the race.
final class HappyEyeballs {
    /// An established connection. The receiver has to close the descriptor.
    struct Winner {
        let descriptor: Int32
        let address: SocketAddress
        /// From the first SYN to this address.
        let seconds: Double
        /// The address was not of the names, but of ``HappyEyeballs/begin(with:)``.
        let isRemembered: Bool
    }

    struct Loss: Error {
        let address: SocketAddress
        let reason: String
        let isRemembered: Bool
    }

    private final class Runner {
        let address: SocketAddress
        let descriptor: Int32
        let begun: Double
        let isRemembered: Bool
        var watch: Watch?
        var deadline: Timer?

        init(address: SocketAddress, descriptor: Int32, begun: Double, isRemembered: Bool) {
            self.address = address
            self.descriptor = descriptor
            self.begun = begun
            self.isRemembered = isRemembered
        }

        func forget() {
            watch?.cancel()
            deadline?.cancel()
        }
    }

    /// The failed addresses, in the order of the failures.
    private(set) var losses: [Loss] = []

    private let loop: EventLoop
    private let limits: ConnectionLimits
    private let allowed: AllowedAddresses
    private var finish: ((Winner?) -> Void)?
    private var six: [SocketAddress] = []
    private var four: [SocketAddress] = []
    private var isFourNext = false
    private var awaited: Set<Int32>
    private var runners: [Runner] = []
    private var started = 0
    private var stagger: Timer?
    private var resolution: Timer?
    private var isResolutionOver = false

    /// Waits for the addresses of the `awaited` families, passed to ``add(_:of:)``. `finish` is called once: with the winner, or
    /// nil when there is nothing left to try.
    init(
        loop: EventLoop, limits: ConnectionLimits, allowed: AllowedAddresses = .all, awaited: Set<Int32>,
        _ finish: @escaping (Winner?) -> Void
    ) {
        self.loop = loop
        self.limits = limits
        self.allowed = allowed
        self.awaited = awaited
        self.finish = finish
    }

    deinit { stop() }

    /// Tries an address before those of the names arrive. The first address of the names then begins their order anew.
    func begin(with remembered: SocketAddress) {
        start(remembered, isRemembered: true)
        started = 0
    }

    /// Adds the addresses of a family; an empty list indicates that the family has none.
    func add(_ addresses: [SocketAddress], of family: Int32) {
        awaited.remove(family)
        if family == AF_INET6 { six += addresses } else { four += addresses }
        advance()
    }

    /// Cancels the race; `finish` is not called.
    func cancel() {
        finish = nil
        stop()
    }

    private func stop() {
        stagger?.cancel()
        resolution?.cancel()
        for runner in runners {
            runner.forget()
            close(runner.descriptor)
        }
        runners = []
    }

    // MARK: Running

    private func advance() {
        guard finish != nil else { return }
        if six.isEmpty, !four.isEmpty, awaited.contains(AF_INET6), started == 0, !isResolutionOver {
            waitForSix()
            return
        }
        while stagger == nil, let address = next() { start(address) }
        if runners.isEmpty, six.isEmpty, four.isEmpty, awaited.isEmpty { end(nil) }
    }

    private func waitForSix() {
        guard resolution == nil else { return }
        resolution = loop.schedule(after: limits.resolution) { [weak self] in
            self?.isResolutionOver = true
            self?.advance()
        }
    }

    private func next() -> SocketAddress? {
        guard started < limits.alternatives else {
            six = []
            four = []
            return nil
        }
        let takeFour = six.isEmpty || (isFourNext && !four.isEmpty)
        if takeFour {
            if four.isEmpty { return nil }
            isFourNext = false
            return four.removeFirst()
        }
        isFourNext = true
        return six.removeFirst()
    }

    private func start(_ address: SocketAddress, isRemembered: Bool = false) {
        started += 1
        guard address.isAllowed(allowed) else { return lose(address, "the address is not public", isRemembered) }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.family, type, Int32(IPPROTO_TCP))
        guard descriptor >= 0 else { return lose(address, SystemError("socket").reason, isRemembered) }
        Self.configure(descriptor)
        let begun = loop.now
        if address.connect(descriptor) != 0, errno != EINPROGRESS {
            let reason = SystemError("connect").reason
            close(descriptor)
            return lose(address, reason, isRemembered)
        }
        let runner = Runner(
            address: address, descriptor: descriptor, begun: begun, isRemembered: isRemembered)
        do throws(SystemError) {
            // traps: never, the watch ends with the runner, its owner
            runner.watch = try loop.watch(descriptor, .write) { [weak self, unowned runner] _ in self?.settle(runner) }
        } catch {
            close(descriptor)
            return lose(address, error.reason, isRemembered)
        }
        // traps: never, the timer ends with the runner, its owner
        runner.deadline = loop.schedule(after: limits.tcp) { [weak self, unowned runner] in
            self?.drop(runner, "no answer within \(Int(self?.limits.tcp ?? 0)) s")
        }
        runners.append(runner)
        stagger = loop.schedule(after: limits.stagger) { [weak self] in
            self?.stagger = nil
            self?.advance()
        }
    }

    private static func configure(_ descriptor: Int32) {
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
        // Milliseconds without acknowledgement of sent bytes, after which the connection ends.
        var patience: Int32 = 60_000
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &patience, size)
    }

    private func settle(_ runner: Runner) {
        var error: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(runner.descriptor, SOL_SOCKET, SO_ERROR, &error, &size)
        if error != 0 { return drop(runner, SystemError("connect", code: error).reason) }
        runner.forget()
        runners.removeAll { $0 === runner }
        let seconds = loop.now - runner.begun
        end(
            Winner(
                descriptor: runner.descriptor, address: runner.address, seconds: seconds,
                isRemembered: runner.isRemembered))
    }

    private func drop(_ runner: Runner, _ reason: String) {
        runner.forget()
        close(runner.descriptor)
        runners.removeAll { $0 === runner }
        lose(runner.address, reason, runner.isRemembered)
        advance()
    }

    private func lose(_ address: SocketAddress, _ reason: String, _ isRemembered: Bool) {
        losses.append(Loss(address: address, reason: reason, isRemembered: isRemembered))
        // The next address need not wait.
        stagger?.cancel()
        stagger = nil
    }

    private func end(_ winner: Winner?) {
        let finish = finish
        cancel()
        finish?(winner)
    }
}
