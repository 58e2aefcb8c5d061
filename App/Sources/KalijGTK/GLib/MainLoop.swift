import CAdwaita
import KalijDesktop

private final class Body {
    let run: () -> Bool
    init(_ run: @escaping () -> Bool) { self.run = run }
}

nonisolated private let drop: GDestroyNotify = { data in
    if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
}

/// Runs `body` before each frame of the widget as long as it returns true.
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

/// Runs `body` once, after the given number of milliseconds; with 0, after the current event and before the next layout.
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

/// Milliseconds of the monotonic clock.
func steadyNow() -> Int64 { Int64(g_get_monotonic_time()) / 1000 }
/// Milliseconds since 1970.
func wallNow() -> Int64 { Int64(g_get_real_time()) / 1000 }
