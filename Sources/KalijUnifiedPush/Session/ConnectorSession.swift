/// The connector's side of the bus: requests endpoints, and receives what distributors deliver for the stored registrations.
public final class ConnectorSession {
    /// What a distributor has delivered, or answered.
    public enum Event {
        /// New messages may be at the XMPP server.
        case look(UnifiedPushRegistration)
        /// Push has to be enabled with another endpoint.
        case renew(UnifiedPushRegistration, endpoint: String)
        /// The endpoint is the one that push was enabled with.
        case unchanged(UnifiedPushRegistration)
        /// The distributor has ended the registration.
        case ended(UnifiedPushRegistration)
        /// The distributor gives no endpoint.
        case refused(UnifiedPushRegistration, reason: String)
        /// Another process of the same service receives the calls from now on.
        case replaced
    }

    private struct Request {
        let token: String
        let version: Distributor.Version
    }

    /// The connection.
    public let bus: UserBus
    private let file: RegistrationFile
    private let name: String
    private let now: () -> Int64
    private var requests: [UInt64: Request] = [:]

    /// - Parameters:
    ///   - bus: the connection.
    ///   - file: the registrations.
    ///   - name: the name that distributors call; acquired by ``begin()``.
    ///   - now: the time in milliseconds since 1970.
    public init(_ bus: UserBus, _ file: RegistrationFile, name: String, now: @escaping () -> Int64) {
        (self.bus, self.file, self.name, self.now) = (bus, file, name, now)
    }

    /// Acquires the name. A process that has the name loses it.
    /// - Throws: ``BusProblem``
    public func begin() throws(BusProblem) {
        guard try bus.acquire(name) else { throw BusProblem("another program has the name \(name) on the session bus") }
    }

    /// Releases the name; calls that have arrived are still returned by ``handle(_:)``.
    public func end() { bus.release(name) }

    /// Requests the registration's endpoint.
    /// - Throws: ``BusProblem``
    public func register(_ registration: UnifiedPushRegistration) throws(BusProblem) {
        try request(registration, registration.version)
    }

    private func request(_ registration: UnifiedPushRegistration, _ version: Distributor.Version) throws(BusProblem) {
        let cookie = try Distributor(registration.distributor).register(
            registration.token, summary: registration.summary, vapid: registration.vapid, service: name, version,
            on: bus)
        requests[cookie] = Request(token: registration.token, version: version)
    }

    // MARK: Receiving

    /// Handles everything that has arrived. A distributor gets its response after `body`.
    /// - Throws: ``BusProblem`` if the bus has ended; the errors of the file and of `body`.
    public func handle(_ body: (Event) throws -> Void) throws {
        while let message = try bus.next() {
            if let cookie = message.replyCookie {
                if let request = requests.removeValue(forKey: cookie) { try answered(request, message, body) }
            } else if let call = ConnectorCall(message) {
                if let event = try event(of: call, from: message.sender) { try body(event) }
                try bus.reply(to: message, id: call.id)
            } else if message.member == "NameLost", message.sender == "org.freedesktop.DBus", message.text() == name {
                try body(.replaced)
            }
        }
    }

    private func answered(_ request: Request, _ message: BusMessage, _ body: (Event) throws -> Void) throws {
        guard let registration = try file.load().first(where: { $0.token == request.token }) else { return }
        switch RegistrationResponse(message, request.version) {
        case .accepted:
            try change(request.token) { $0.version = request.version }
        case .unsupported where request.version == .second: try self.request(registration, .first)
        case .unsupported: try body(.refused(registration, reason: "it does not have the interface of distributors"))
        case .refused(let reason): try body(.refused(registration, reason: reason))
        }
    }

    /// - Returns: nil if the call changes nothing, has an unknown token, or another sender than the registration's distributor.
    private func event(of call: ConnectorCall, from sender: String?) throws -> Event? {
        guard let registration = try file.load().first(where: { $0.token == call.token }),
            let sender, bus.owner(of: registration.distributor) == sender
        else { return nil }
        switch call.content {
        case .message(let body):
            return try change(call.token) { $0.isReason(body, at: now()) } == true ? .look(registration) : nil
        case .newEndpoint(let endpoint):
            return endpoint == registration.endpoint
                ? .unchanged(registration) : .renew(registration, endpoint: endpoint)
        case .unregistered: return .ended(registration)
        }
    }

    /// - Returns: the result of `body`; nil if there is no such registration any more.
    private func change<Result>(
        _ token: String, _ body: (inout UnifiedPushRegistration) -> Result
    ) throws -> Result? {
        try file.change { registrations in
            guard let index = registrations.firstIndex(where: { $0.token == token }) else { return nil }
            return body(&registrations[index])
        }
    }
}
