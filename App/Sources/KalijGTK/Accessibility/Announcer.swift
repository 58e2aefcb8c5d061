import CAdwaita
import KalijApp

/// Makes announcements for screen readers, because GTK supports them only since 4.14. Exports an accessible object with the role
/// notification, on its own connection to the accessibility bus.
final class Announcer {
    private static var shared: Announcer?
    private static var merging = SpokenAnnouncements()

    /// Connects to the accessibility bus if there is one; without it nothing is announced.
    static func begin() { shared = shared ?? Announcer() }

    /// Announces a text.
    static func say(_ words: String) { shared?.say(words) }

    /// Announces the arrival of a message; many at once are announced as a number.
    static func arrived(_ words: String) {
        let (text, dueIn) = merging.arrived(words, now: steadyNow())
        if let text { say(text) }
        if let dueIn {
            after(UInt32(dueIn)) { if let words = merging.due(steadyNow()) { say(words) } }
        }
    }

    private static let root = "/org/a11y/atspi/accessible/root"
    private static let child = "/org/a11y/atspi/accessible/announcement"
    private static let accessible = "org.a11y.atspi.Accessible"
    private static let application = "org.a11y.atspi.Application"

    private let bus: OpaquePointer
    private var text = ""
    private var registry = ("", "")

    private init?() {
        guard let bus = Self.connection(), let node = g_dbus_node_info_new_for_xml(Self.interfaces, nil) else {
            return nil
        }
        self.bus = bus
        register(Self.root, Self.accessible, node)
        register(Self.root, Self.application, node)
        register(Self.child, Self.accessible, node)
        let words = "(('\(name)', objectpath '\(Self.root)'),)"
        let embedded = g_dbus_connection_call_sync(
            bus, "org.a11y.atspi.Registry", Self.root, "org.a11y.atspi.Socket", "Embed", parsed(words), nil,
            G_DBUS_CALL_FLAGS_NONE, Self.patience, nil, nil)
        if let embedded { registry = pair(g_variant_get_child_value(embedded, 0)) }
    }

    /// The timeout of bus calls in milliseconds, so that an unresponsive bus does not block the window.
    private static let patience: Int32 = 1000

    private static func connection() -> OpaquePointer? {
        guard let session = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil) else { return nil }
        let answer = g_dbus_connection_call_sync(
            session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", nil, nil, G_DBUS_CALL_FLAGS_NONE,
            patience, nil, nil)
        guard let answer, let value = g_variant_get_child_value(answer, 0),
            let address = g_variant_get_string(value, nil)
        else { return nil }
        let flags = GDBusConnectionFlags(
            rawValue: G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
                | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
        let bus = g_dbus_connection_new_for_address_sync(address, flags, nil, nil, nil)
        if let bus { g_dbus_connection_set_exit_on_close(bus, 0) }
        return bus
    }

    private func register(_ path: String, _ interface: String, _ node: UnsafeMutablePointer<GDBusNodeInfo>) {
        var table = GDBusInterfaceVTable()
        table.method_call = { _, _, path, _, method, _, invocation, data in
            guard let path, let method, let invocation, let data else { return }
            // GDBus calls this on the main thread.
            nonisolated(unsafe) let (call, me) = (invocation, data)
            let (place, name) = (String(cString: path), String(cString: method))
            MainActor.assumeIsolated {
                let announcer = Unmanaged<Announcer>.fromOpaque(me).takeUnretainedValue()
                let value = announcer.answer(name, place)
                g_dbus_method_invocation_return_value(call, value)
                if let value { g_variant_unref(value) }
            }
        }
        table.get_property = { _, _, path, _, property, _, data in
            guard let path, let property, let data else { return nil }
            nonisolated(unsafe) let me = data
            let (place, name) = (String(cString: path), String(cString: property))
            nonisolated(unsafe) var value: OpaquePointer?
            MainActor.assumeIsolated {
                value = Unmanaged<Announcer>.fromOpaque(me).takeUnretainedValue().property(name, place)
            }
            return value
        }
        // The announcer lives as long as the process.
        let me = Unmanaged.passRetained(self).toOpaque()
        let info = g_dbus_node_info_lookup_interface(node, interface)
        g_dbus_connection_register_object(bus, path, info, &table, me, nil, nil)
    }

    private var name: String { g_dbus_connection_get_unique_name(bus).map { String(cString: $0) } ?? "" }
    private func reference(_ path: String) -> String { "('\(name)', objectpath '\(path)')" }
    /// Returns a full reference, not a floating one: the caller releases it.
    private func parsed(_ words: String) -> OpaquePointer? { g_variant_parse(nil, words, nil, nil, nil) }

    private func pair(_ value: OpaquePointer?) -> (String, String) {
        guard let value, let one = g_variant_get_child_value(value, 0), let other = g_variant_get_child_value(value, 1)
        else { return ("", "") }
        return (String(cString: g_variant_get_string(one, nil)), String(cString: g_variant_get_string(other, nil)))
    }

    private func property(_ name: String, _ path: String) -> OpaquePointer? {
        let isRoot = path == Self.root
        return switch name {
        case "Name": g_variant_new_string(isRoot ? "Kalij announcements" : text)
        case "Description", "Locale", "AccessibleId": g_variant_new_string("")
        case "Parent": parsed(isRoot ? "('\(registry.0)', objectpath '\(registry.1)')" : reference(Self.root))
        case "ChildCount": g_variant_new_int32(isRoot ? 1 : 0)
        case "ToolkitName": g_variant_new_string("kalij")
        case "Version", "AtspiVersion": g_variant_new_string("2.1")
        case "Id": g_variant_new_int32(0)
        default: nil
        }
    }

    private func answer(_ method: String, _ path: String) -> OpaquePointer? {
        let isRoot = path == Self.root
        return switch method {
        case "GetChildAtIndex": parsed("(\(reference(Self.child)),)")
        case "GetChildren": parsed(isRoot ? "([\(reference(Self.child))],)" : "(@a(so) [],)")
        case "GetIndexInParent": parsed("(0,)")
        case "GetRelationSet": parsed("(@a(ua(so)) [],)")
        case "GetRole": parsed("(uint32 \(isRoot ? Self.applicationRole : Self.notificationRole),)")
        case "GetRoleName", "GetLocalizedRoleName": parsed("('\(isRoot ? "application" : "notification")',)")
        case "GetState": parsed("([uint32 \(Self.states), 0],)")
        case "GetAttributes": parsed("(@a{ss} {},)")
        case "GetApplication": parsed("(\(reference(Self.root)),)")
        case "GetInterfaces": parsed("(['\(Self.accessible)'\(isRoot ? ", '\(Self.application)'" : "")],)")
        case "GetLocale": parsed("('',)")
        default: nil
        }
    }

    private static let (applicationRole, notificationRole) = (75, 101)
    /// Enabled, sensitive, showing, visible.
    private static let states = UInt32(1) << 8 | 1 << 24 | 1 << 25 | 1 << 30

    /// The minimum interval in milliseconds: a screen reader queries the text after the signal, and until then it must not be
    /// replaced.
    private static let apart: Int64 = 500
    private var waiting: [String] = []
    private var saidAt: Int64 = .min / 2

    private func say(_ words: String) {
        waiting.append(words)
        guard waiting.count == 1 else { return }
        let left = Self.apart - (steadyNow() - saidAt)
        if left <= 0 { sayNow() } else { after(UInt32(left)) { [weak self] in self?.sayNow() } }
    }

    private func sayNow() {
        text = waiting.joined(separator: ". ")
        (waiting, saidAt) = ([], steadyNow())
        let state = parsed("('showing', 1, 0, <'0'>, @a{sv} {})")
        g_dbus_connection_emit_signal(
            bus, nil, Self.child, "org.a11y.atspi.Event.Object", "StateChanged", state, nil)
        if let state { g_variant_unref(state) }
    }

    private static let interfaces = """
        <node><interface name='org.a11y.atspi.Accessible'>
        <property name='Name' type='s' access='read'/><property name='Description' type='s' access='read'/>
        <property name='Parent' type='(so)' access='read'/><property name='ChildCount' type='i' access='read'/>
        <property name='Locale' type='s' access='read'/><property name='AccessibleId' type='s' access='read'/>
        <method name='GetChildAtIndex'><arg direction='in' type='i'/><arg direction='out' type='(so)'/></method>
        <method name='GetChildren'><arg direction='out' type='a(so)'/></method>
        <method name='GetIndexInParent'><arg direction='out' type='i'/></method>
        <method name='GetRelationSet'><arg direction='out' type='a(ua(so))'/></method>
        <method name='GetRole'><arg direction='out' type='u'/></method>
        <method name='GetRoleName'><arg direction='out' type='s'/></method>
        <method name='GetLocalizedRoleName'><arg direction='out' type='s'/></method>
        <method name='GetState'><arg direction='out' type='au'/></method>
        <method name='GetAttributes'><arg direction='out' type='a{ss}'/></method>
        <method name='GetApplication'><arg direction='out' type='(so)'/></method>
        <method name='GetInterfaces'><arg direction='out' type='as'/></method>
        </interface><interface name='org.a11y.atspi.Application'>
        <property name='ToolkitName' type='s' access='read'/><property name='Version' type='s' access='read'/>
        <property name='AtspiVersion' type='s' access='read'/><property name='Id' type='i' access='readwrite'/>
        <method name='GetLocale'><arg direction='in' type='u'/><arg direction='out' type='s'/></method>
        </interface></node>
        """
}
