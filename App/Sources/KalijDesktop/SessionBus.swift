import CGIO

/// A failed D-Bus call.
struct BusError: Error {
    /// The D-Bus name of the error; empty if the bus reported none.
    let name: String

    /// Whether no program offers the service.
    var isNoService: Bool {
        ["ServiceUnknown", "NameHasNoOwner", "UnknownMethod", "UnknownObject", "UnknownInterface"]
            .contains { name == "org.freedesktop.DBus.Error." + $0 }
    }
}

/// The connection to the session bus.
final class SessionBus {
    private let connection: OpaquePointer
    /// Identifies this run of the bus: unique names are assigned again by the next.
    let identity: String

    /// - Returns: nil without a session bus.
    init?() {
        guard let connection = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil) else { return nil }
        self.connection = connection
        identity = g_dbus_connection_get_guid(connection).map { String(cString: $0) } ?? ""
    }

    /// In milliseconds; long enough for a service that is started by the call.
    private static let timeout: Int32 = 10_000

    private final class Call {
        let done: CheckedContinuation<BusReply, any Error>
        init(_ done: CheckedContinuation<BusReply, any Error>) { self.done = done }
    }

    /// Calls a method, and waits for its reply.
    @discardableResult
    func call(
        _ service: String, _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue] = []
    ) async throws -> BusReply {
        try await withCheckedThrowingContinuation { done in
            // Released by the callback, which GDBus calls once.
            let data = Unmanaged.passRetained(Call(done)).toOpaque()
            g_dbus_connection_call(
                connection, service, path, interface, method, BusValue.tuple(arguments), nil, G_DBUS_CALL_FLAGS_NONE,
                Self.timeout, nil,
                { source, result, data in
                    guard let source, let result, let data else { return }
                    nonisolated(unsafe) let (bus, reply, me) = (source, result, data)
                    MainActor.assumeIsolated { SessionBus.finish(OpaquePointer(bus), reply, me) }
                }, data)
        }
    }

    private static func finish(_ connection: OpaquePointer, _ result: OpaquePointer, _ data: gpointer) {
        let call = Unmanaged<Call>.fromOpaque(data).takeRetainedValue()
        var error: UnsafeMutablePointer<GError>?
        if let reply = g_dbus_connection_call_finish(connection, result, &error) {
            return call.done.resume(returning: BusReply(reply))
        }
        let name = error.flatMap { g_dbus_error_get_remote_error($0) }
        defer {
            g_free(name)
            g_error_free(error)
        }
        call.done.resume(throwing: BusError(name: name.map { String(cString: $0) } ?? ""))
    }

    private static let (bus, busPath) = ("org.freedesktop.DBus", "/org/freedesktop/DBus")

    /// Whether a program has the name.
    func isOwned(_ name: String) async -> Bool {
        (try? await call(Self.bus, Self.busPath, Self.bus, "NameHasOwner", [.text(name)]))?.flag(0) ?? false
    }

    /// The unique name of the program that has the name.
    func owner(of name: String) async throws -> String {
        try await call(Self.bus, Self.busPath, Self.bus, "GetNameOwner", [.text(name)]).text(0) ?? ""
    }

    private final class Subscriber {
        let receive: (String, BusReply) -> Void
        init(_ receive: @escaping (String, BusReply) -> Void) { self.receive = receive }
    }

    /// The name of this connection, such as `:1.42`.
    var uniqueName: String { g_dbus_connection_get_unique_name(connection).map { String(cString: $0) } ?? "" }

    /// Subscribes to a signal for the rest of the process.
    /// - Parameters:
    ///   - path: the object; nil for all.
    ///   - first: the first argument, a text; nil for any.
    ///   - receive: is passed the sender's unique name and the body.
    func subscribe(
        _ service: String, _ interface: String, _ signal: String, at path: String? = nil, first: String? = nil,
        _ receive: @escaping (String, BusReply) -> Void
    ) {
        let data = Unmanaged.passRetained(Subscriber(receive)).toOpaque()
        g_dbus_connection_signal_subscribe(
            connection, service, interface, signal, path, first, G_DBUS_SIGNAL_FLAGS_NONE,
            { _, sender, _, _, _, body, data in
                guard let sender, let body, let data else { return }
                nonisolated(unsafe) let (value, me) = (body, data)
                let name = String(cString: sender)
                MainActor.assumeIsolated {
                    g_variant_ref(value)
                    Unmanaged<Subscriber>.fromOpaque(me).takeUnretainedValue().receive(name, BusReply(value))
                }
            }, data, nil)
    }
}
