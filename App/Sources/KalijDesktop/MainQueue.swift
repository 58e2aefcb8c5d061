import CGIO
import Glibc

/// Attaches libdispatch's main queue, which runs the main actor and tasks, to GLib's main loop.
public enum MainQueue {
    /// After the events of the display, before layout (110) and painting (120): if painting is slow, an animation leaves no time
    /// for lower priorities.
    public static let priority: Int32 = 105

    public static func attach() {
        g_unix_fd_add_full(
            priority, _dispatch_get_main_queue_handle_4CF(), G_IO_IN,
            { handle, _, _ in
                var count: UInt64 = 0
                _ = read(handle, &count, MemoryLayout<UInt64>.size)
                _dispatch_main_queue_callback_4CF(nil)
                return 1
            }, nil, nil)
    }
}

/// Runs `end` when the process is to end (SIGTERM, SIGINT): drafts are stored, and the engine releases the fence.
public func onTermination(_ end: @escaping () -> Void) {
    for number in [SIGTERM, SIGINT] {
        // Lives as long as the process.
        let data = Unmanaged.passRetained(ApplicationHandler { _ in end() }).toOpaque()
        g_unix_signal_add(
            number,
            { data in
                guard let data else { return 0 }
                nonisolated(unsafe) let me = data
                MainActor.assumeIsolated { Unmanaged<ApplicationHandler>.fromOpaque(me).takeUnretainedValue().run("") }
                return 1
            }, data)
    }
}
