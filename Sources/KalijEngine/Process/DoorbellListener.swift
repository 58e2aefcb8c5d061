import KalijCore
import KalijCoordination
import KalijStore
import KalijTransport

import Glibc

/// Listens on the doorbell of a directory, on the engine's loop.
package final class DoorbellListener {
    /// Called when a process has committed work, or may still commit work within a call.
    package var onRing: () -> Void = {}
    private var listener: (any SignalListener)?
    private let loop: any EngineLoop
    private var watch: Watch?
    private var callers: [Int32: Watch] = [:]
    /// Callers that have signalled and wait for the end of their connection, until this process has released the fence.
    private var waiting: [Int32] = []
    private var patrol: Timer?
    /// The callers to notify when work that they await may be done.
    private var subscriptions: Set<Int32> = []
    /// The callers that display the directory.
    private var viewers: [Int32: Viewer] = [:]
    private var retrying: Timer?
    /// Publishes changes to the viewers.
    package let teller: ChangeTeller
    /// Called when a viewer requests an immediate connection.
    package var onConnectNow: () -> Void = {}

    private struct Viewer {
        /// The bytes that the connection has not accepted yet.
        var rest: ArraySlice<UInt8> = []
        /// Whether lines were dropped.
        var isBehind = false
    }

    /// Listens in place of the previous driver, within a transaction in which no process can raise the fence. Otherwise a process
    /// that was frozen before this point, and overtaken, would take the doorbell from the current driver (simulation, seed
    /// 17116).
    /// - Throws: `FenceError.stale`, `StoreError`, `DoorbellError`.
    package init(_ directory: AccountDirectory, of fence: Fence, in database: Database, loop: any EngineLoop) throws {
        let listener = try database.transaction {
            try fence.check(database)
            return try directory.platform.signals.listener(directory: directory.path, at: .driver)
        }
        self.listener = listener
        (self.loop, teller) = (loop, ChangeTeller(on: loop))
        teller.doorbell = self
        watch = try loop.watch(listener.descriptor, .read) { [weak self] _ in self?.accept() }
    }

    deinit {
        stopListening()
        disconnectCallers()
    }

    /// Callers can no longer connect, and so do not rely on this process. Call this while the fence is held: afterwards the
    /// address may belong to the next driver.
    package func stopListening() {
        watch?.cancel()
        watch = nil
        listener = nil
    }

    /// Closes the remaining connections. The end of the connection is the response to processes that requested the release of the
    /// fence.
    package func disconnectCallers() {
        for (descriptor, watch) in callers {
            watch.cancel()
            close(descriptor)
        }
        callers = [:]
        waiting.forEach { close($0) }
        waiting = []
        patrol?.cancel()
        retrying?.cancel()
        (subscriptions, viewers) = ([], [:])
    }

    /// Whether a process displays the directory.
    package var hasViewers: Bool { !viewers.isEmpty }

    /// Sends changes to the viewers, in complete lines. A viewer that does not read receives one line later instead, for changes
    /// of any part (``ChangeTeller/everything``).
    package func publish(changes lines: [UInt8]) {
        for viewer in viewers.keys { deliver(viewer, lines[...]) }
    }

    private func deliver(_ caller: Int32, _ lines: ArraySlice<UInt8>) {
        guard var viewer = viewers[caller] else { return }
        viewer.rest = viewer.rest.dropFirst(Doorbell.write(viewer.rest, to: caller))
        if viewer.rest.isEmpty {
            let lines = viewer.isBehind ? ChangeTeller.everything[...] : lines
            viewer.isBehind = false
            viewer.rest = lines.dropFirst(Doorbell.write(lines, to: caller))
        } else if !lines.isEmpty {
            viewer.isBehind = true
        }
        viewers[caller] = viewer
        guard !viewer.rest.isEmpty || viewer.isBehind, retrying == nil else { return }
        retrying = loop.schedule(after: 0.5) { [weak self] in
            guard let self else { return }
            retrying = nil
            for (caller, viewer) in viewers where !viewer.rest.isEmpty || viewer.isBehind { deliver(caller, []) }
        }
    }

    /// Notifies waiting processes that something has changed.
    package func notify() { subscriptions.forEach(Doorbell.tell) }

    private func accept() {
        while let caller = listener?.accept() {
            do {
                callers[caller] = try loop.watch(caller, .read) { [weak self] _ in self?.receive(caller) }
                if patrol == nil { scheduleCheck(in: 1) }
            } catch {
                close(caller)
                onRing()
            }
        }
    }

    /// A caller that is frozen after its commit does not close its connection. While a caller is connected, the engine therefore
    /// checks for work from time to time.
    private func scheduleCheck(in seconds: Double) {
        patrol = loop.schedule(after: seconds) { [weak self] in
            guard let self else { return }
            patrol = nil
            guard callers.count > subscriptions.count + viewers.count else { return }
            onRing()
            scheduleCheck(in: min(60, seconds * 2))
        }
    }

    private func receive(_ caller: Int32) {
        var byte: UInt8 = 0
        let count = read(caller, &byte, 1)
        if count == 1 {
            switch byte {
            case Doorbell.tell:
                subscriptions.insert(caller)
                // Changes before the subscription were not reported: the caller has to check once more.
                Doorbell.tell(caller)
            case Doorbell.tellChanges:
                viewers[caller] = Viewer()
                deliver(caller, teller.greeting[...])
            case Doorbell.connectNow where viewers[caller] != nil: onConnectNow()
            default: break
            }
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            callers.removeValue(forKey: caller)?.cancel()
            if subscriptions.remove(caller) == nil, viewers.removeValue(forKey: caller) == nil { onRing() }
            // The end of the connection is the response. A process that is releasing the fence responds once it has released it.
            if listener == nil { waiting.append(caller) } else { close(caller) }
        }
    }
}
