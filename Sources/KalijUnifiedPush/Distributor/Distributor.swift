import KalijText

/// A program on the session bus that receives pushes for others (UnifiedPush, DBUS_0.3.0).
public struct Distributor: Sendable, Hashable {
    /// The name of every distributor begins so.
    public static let prefix = "org.unifiedpush.Distributor."
    private static let path = "/org/unifiedpush/Distributor"

    /// The name on the bus.
    public let name: String

    /// - Parameter name: the name on the bus, with or without ``prefix``.
    public init(_ name: String) { self.name = name.begins(with: Self.prefix) ? name : Self.prefix + name }

    /// The name without ``prefix``.
    public var shortName: String { String(name.dropFirst(Self.prefix.count)) }

    /// All distributors that run, or that the bus can start, in the order of their names.
    public static func all(on bus: UserBus) throws(BusProblem) -> [Distributor] {
        let names = try bus.names()
        return Set(names.owned + names.activatable).filter { $0.begins(with: prefix) && $0 != prefix }
            .sorted().map { Distributor($0) }
    }

    /// A version of the interface. The second has dictionaries, and the key of the sender.
    public enum Version: Int, Sendable, Codable {
        /// `org.unifiedpush.Distributor1`.
        case first = 1
        /// `org.unifiedpush.Distributor2`.
        case second = 2
    }

    /// Requests an endpoint, which arrives as a call of the connector.
    /// - Parameters:
    ///   - token: identifies the registration.
    ///   - summary: for the user of the distributor.
    ///   - vapid: the key of the sender; unknown to the first version.
    ///   - service: the connector's name on the bus.
    /// - Returns: the number of the call, for ``UserBus``'s responses.
    func register(
        _ token: String, summary: String, vapid: String?, service: String, _ version: Version, on bus: UserBus
    ) throws(BusProblem) -> UInt64 {
        let call = try bus.message(
            name, Self.path, interface: "org.unifiedpush.Distributor\(version.rawValue)", "Register")
        switch version {
        case .first: for text in [service, token, summary] { try call.append(text) }
        case .second:
            try call.append(
                [("service", service), ("token", token), ("description", summary)]
                    + (vapid.map { [("vapid", $0)] } ?? []))
        }
        return try bus.send(call)
    }

    /// Ends a registration. The response is not awaited.
    public func unregister(_ token: String, _ version: Version, on bus: UserBus) throws(BusProblem) {
        let call = try bus.message(
            name, Self.path, interface: "org.unifiedpush.Distributor\(version.rawValue)", "Unregister")
        switch version {
        case .first: try call.append(token)
        case .second: try call.append([("token", token)])
        }
        _ = try bus.send(call)
    }
}

/// The response to a request for an endpoint.
public enum RegistrationResponse: Sendable, Equatable {
    /// The endpoint follows.
    case accepted
    /// The distributor does not have the version of the interface.
    case unsupported
    /// The reason, as the distributor names it.
    case refused(String)

    init(_ reply: BusMessage, _ version: Distributor.Version) {
        if let error = reply.error {
            let isUnknown = ["UnknownInterface", "UnknownMethod", "UnknownObject"]
                .contains { error == "org.freedesktop.DBus.Error." + $0 }
            self = isUnknown ? .unsupported : .refused(error)
            return
        }
        switch version {
        case .first: self.init(result: reply.text(), reason: reply.text())
        case .second:
            let fields = reply.fields().texts
            self.init(result: fields["success"], reason: fields["reason"])
        }
    }

    /// The first version had `NEW_ENDPOINT` for success and `REGISTRATION_REFUSED` for a lasting refusal.
    init(result: String?, reason: String?) {
        switch result {
        case "REGISTRATION_SUCCEEDED"?, "NEW_ENDPOINT"?: self = .accepted
        default: self = .refused(reason.flatMap { $0.isEmpty ? nil : $0 } ?? result ?? "a response of another form")
        }
    }
}
