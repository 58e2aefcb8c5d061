import KalijRoles
import KalijTransport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Watches the doorbell of a directory on the engine's loop.
final class DoorbellWatch {
    /// Somebody committed something.
    var onRing: () -> Void = {}
    /// Somebody who goes first asks to drive.
    var onPlease: () -> Void = {}
    private var listener: Doorbell.Listener?
    private let loop: EventLoop
    private var watch: Watch?
    private var callers: [Int32: Watch] = [:]
    /// Those of the callers who want to be told.
    private var ears: Set<Int32> = []

    init(directory: String, loop: EventLoop) throws {
        let listener = try Doorbell.Listener(directory: directory)
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
        ears = []
    }

    /// Tells those who wait in other processes that something has happened.
    func tell() { ears.forEach(Doorbell.tell) }

    private func accept() {
        while let caller = listener?.accept() {
            do {
                callers[caller] = try loop.watch(caller, .read) { [weak self] _ in self?.hear(caller) }
            } catch {
                close(caller)
                onRing()
            }
        }
    }

    private func hear(_ caller: Int32) {
        var byte: UInt8 = 0
        let count = read(caller, &byte, 1)
        if count == 1 {
            // The connection stays open until this process has let go: its end is the answer.
            if byte == Doorbell.please { onPlease() }
            if byte == Doorbell.tell {
                ears.insert(caller)
                // What happened before was not told: it is to look once more.
                Doorbell.tell(caller)
            }
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            callers.removeValue(forKey: caller)?.cancel()
            close(caller)
            if ears.remove(caller) == nil { onRing() }
        }
    }
}
