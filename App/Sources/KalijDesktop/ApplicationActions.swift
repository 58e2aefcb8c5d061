import CGIO
import KalijApp

/// A handler of an application's signal or action; kept for the rest of the process.
final class ApplicationHandler {
    let run: (String) -> Void
    init(_ run: @escaping (String) -> Void) { self.run = run }
}

extension DesktopNotifications {
    /// Exports the actions of notifications: the desktop activates them by `org.freedesktop.Application`.
    /// - Parameter application: a GApplication.
    public func export(on application: OpaquePointer) {
        for name in Self.actions {
            addAction(name, on: application) { [weak self] target in self?.activated(name, target) }
        }
    }

    /// Adds an action with a text as its parameter, which any program may send.
    /// - Parameter application: a GApplication.
    func addAction(_ name: String, on application: OpaquePointer, _ run: @escaping (String) -> Void) {
        let type = g_variant_type_new("s")
        defer { g_variant_type_free(type) }
        guard let action = g_simple_action_new(name, type) else { return }
        let activated: @convention(c) (gpointer?, OpaquePointer?, gpointer?) -> Void = { _, parameter, data in
            guard let parameter, let data else { return }
            nonisolated(unsafe) let me = data
            let text = g_variant_get_string(parameter, nil).map { String(cString: $0) } ?? ""
            MainActor.assumeIsolated {
                Unmanaged<ApplicationHandler>.fromOpaque(me).takeUnretainedValue().run(text)
            }
        }
        g_signal_connect_data(
            UnsafeMutableRawPointer(action), "activate", unsafeBitCast(activated, to: GCallback.self),
            Unmanaged.passRetained(ApplicationHandler(run)).toOpaque(), nil, GConnectFlags(rawValue: 0))
        g_action_map_add_action(application, action)
        g_object_unref(UnsafeMutableRawPointer(action))
    }
}
