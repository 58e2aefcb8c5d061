import KalijRoles
import KalijStore
import KalijTransport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Watches the doorbell of a directory on the engine's loop.
final class DoorbellWatch {
    /// Somebody committed something, or is about to for a while.
    var onRing: () -> Void = {}
    private var listener: (any SignalListener)?
    private let loop: any EngineLoop
    private var watch: Watch?
    private var callers: [Int32: Watch] = [:]
    /// Those who have rung and wait for the end of their connection until this process has let go.
    private var waiting: [Int32] = []
    private var patrol: Timer?
    /// Those of the callers who want to be told.
    private var ears: Set<Int32> = []

    /// Listens in the place of whoever did before: within a transaction, in which nobody can raise the fence. One that was frozen
    /// before, and overtaken, would take the bell from who drives by now (simulation, seed 17116).
    /// - Throws: `FenceError.stale`, `StoreError`, `DoorbellError`.
    init(_ directory: AccountDirectory, of fence: Fence, in database: Database, loop: any EngineLoop) throws {
        let listener = try database.transaction {
            try fence.check(database)
            return try directory.platform.signals.listener(directory: directory.path, at: .driver)
        }
        self.listener = listener
        self.loop = loop
        watch = try loop.watch(listener.descriptor, .read) { [weak self] _ in self?.accept() }
    }

    deinit {
        stopListening()
        letCallersGo()
    }

    /// From now on a ringer finds nobody, and does not rely on this process. To be called while the fence is still held:
    /// afterwards the place may be the next driver's.
    func stopListening() {
        watch?.cancel()
        watch = nil
        listener = nil
    }

    /// Ends what is left of the connections, which answers those who asked this process to let go.
    func letCallersGo() {
        for (descriptor, watch) in callers {
            watch.cancel()
            close(descriptor)
        }
        callers = [:]
        waiting.forEach { close($0) }
        waiting = []
        patrol?.cancel()
        ears = []
    }

    /// Tells those who wait in other processes that something has happened.
    func tell() { ears.forEach(Doorbell.tell) }

    private func accept() {
        while let caller = listener?.accept() {
            do {
                callers[caller] = try loop.watch(caller, .read) { [weak self] _ in self?.hear(caller) }
                if patrol == nil { look(in: 1) }
            } catch {
                close(caller)
                onRing()
            }
        }
    }

    /// A caller that is frozen after its commit does not hang up: while somebody is connected it is looked now and then.
    private func look(in seconds: Double) {
        patrol = loop.schedule(after: seconds) { [weak self] in
            guard let self else { return }
            patrol = nil
            guard callers.count > ears.count else { return }
            onRing()
            look(in: min(60, seconds * 2))
        }
    }

    private func hear(_ caller: Int32) {
        var byte: UInt8 = 0
        let count = read(caller, &byte, 1)
        if count == 1 {
            if byte == Doorbell.tell {
                ears.insert(caller)
                // What happened before was not told: it is to look once more.
                Doorbell.tell(caller)
            }
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            callers.removeValue(forKey: caller)?.cancel()
            if ears.remove(caller) == nil { onRing() }
            // The end of the connection is the answer: that of a process that is letting go comes when it has.
            if listener == nil { waiting.append(caller) } else { close(caller) }
        }
    }
}
