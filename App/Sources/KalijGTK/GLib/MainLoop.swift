import CAdwaita
import Glibc

/// libdispatch's main queue as a source of GLib's main loop: the main actor and tasks go on there.
enum MainQueue {
    /// After the events of the display, before layout (110) and painting (120): where painting is slow, an animation leaves no time behind it.
    static let priority: Int32 = 105

    static func attach() {
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

private final class Body {
    let run: () -> Bool
    init(_ run: @escaping () -> Bool) { self.run = run }
}

nonisolated private let drop: GDestroyNotify = { data in
    if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
}

/// Runs `body` before each frame of the widget while it returns true.
func everyFrame(of widget: Widget, _ body: @escaping () -> Bool) {
    // Released by GTK, with `drop`.
    let data = Unmanaged.passRetained(Body(body)).toOpaque()
    gtk_widget_add_tick_callback(
        widget,
        { _, _, data in
            guard let data else { return 0 }
            nonisolated(unsafe) let box = data
            return MainActor.assumeIsolated { Unmanaged<Body>.fromOpaque(box).takeUnretainedValue().run() ? 1 : 0 }
        }, data, drop)
}

/// Runs `body` once, after some milliseconds; 0: after the present event, before the next layout.
@discardableResult
func after(_ milliseconds: UInt32, _ body: @escaping () -> Void) -> UInt32 {
    let data = Unmanaged.passRetained(
        Body {
            body()
            return false
        }
    ).toOpaque()
    let call: GSourceFunc = { data in
        guard let data else { return 0 }
        nonisolated(unsafe) let box = data
        return MainActor.assumeIsolated { Unmanaged<Body>.fromOpaque(box).takeUnretainedValue().run() ? 1 : 0 }
    }
    return milliseconds == 0
        ? g_idle_add_full(MainQueue.priority, call, data, drop)
        : g_timeout_add_full(0, milliseconds, call, data, drop)
}

/// Milliseconds of a steady clock.
func steadyNow() -> Int64 { Int64(g_get_monotonic_time()) / 1000 }
/// Milliseconds since 1970.
func wallNow() -> Int64 { Int64(g_get_real_time()) / 1000 }
