import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijStream
import KalijXML

/// The upload service of the account's server (XEP-0363 section 4): discovered when there is a file to send, and kept in a row for a
/// day. In sessions without a file to send no query is sent.
package struct UploadServices {
    let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    init(step: Step) { self.step = step }

    /// A service and its limit.
    package struct Service: Equatable {
        package let jid: JID
        /// The maximum file size of the service, in bytes; nil if the service specifies none.
        package let limit: Int64?
    }

    /// The state of the discovery.
    package enum Knowledge: Equatable {
        case unknown
        /// Responses are outstanding.
        case pending
        case none
        case known(Service)
    }

    /// The maximum number of server items that are queried.
    private static let maxItems = 20

    /// The service as last discovered, however long ago.
    package static func last(of account: Int64, in database: Database) throws -> Service? {
        try database.statement("SELECT jid, max_size FROM upload_service WHERE account = ? AND jid IS NOT NULL")
            .first([.integer(account)]) {
                Service(jid: .received($0.text("jid")), limit: $0.optionalInteger("max_size"))
            }
    }

    /// The state of the discovery, as required for sending a file. A result expires, because a server may get a service, or another
    /// limit.
    func discoveryState() throws -> Knowledge {
        let row = try database.statement("SELECT jid, asking, asked_at FROM upload_service WHERE account = ?")
            .first([account]) { ($0.optionalText("jid"), $0.integer("asking") > 0, $0.integer("asked_at")) }
        guard let (jid, isAsking, askedAt) = row else { return .unknown }
        let age = step.steady.now - askedAt
        // The request may have been lost with a handler that could never be called.
        if isAsking, age < Self.timeout { return .pending }
        guard age < (jid == nil ? Self.timeout : Self.day), !isAsking else { return .unknown }
        guard let service = try Self.last(of: step.account.id, in: database) else { return .none }
        return .known(service)
    }

    private static let timeout: Int64 = 600_000
    private static let day: Int64 = 86_400_000

    // MARK: Hosts

    /// The host of a URL, in lower case.
    package static func host(of url: String) -> String { FileAddress.host(of: url) ?? "" }

    /// The hosts of the account's own server, which may have private addresses if the server has.
    package static func hosts(of account: Account, in database: Database) throws -> Set<String> {
        let row = try database.statement("SELECT jid, host FROM upload_service WHERE account = ?")
            .first([.integer(account.id)]) { ($0.optionalText("jid"), $0.optionalText("host")) }
        return Set([account.jid.domain, row?.0, row?.1].compactMap { $0?.lowercased() })
    }

    /// Records the host of a slot's address.
    func record(host: String) throws {
        try database.run(
            "UPDATE upload_service SET host = ?1 WHERE account = ?2 AND host IS NOT ?1", [.text(host), account])
    }

    // MARK: Discovery

    /// Starts the discovery of a service.
    func discover() throws {
        guard let server = try? JID(step.account.jid.domain) else { return }
        try expect(1)
        if let info = try step.discovery.info(of: server), info.supports(UploadSlot.namespace) {
            return try found(server, info)
        }
        try step.discovery.askItems(of: server, then: UploadServiceItemsResponse(), within: EngineLimits.serverTimeout)
    }

    fileprivate func queryItems(_ items: [DiscoveryItem]) throws {
        let services = Set(items.compactMap { $0.node == nil ? $0.jid : nil }).sorted()
        guard !services.isEmpty else { return try notFound(nothing: true) }
        try expect(Int64(min(services.count, Self.maxItems)))
        for jid in services.prefix(Self.maxItems) {
            try step.discovery.ask(jid, then: UploadServiceInfoResponse(jid: jid), within: EngineLimits.serverTimeout)
        }
    }

    private func expect(_ answers: Int64) throws {
        try database.run(
            """
            INSERT INTO upload_service(account, asking, asked_at, found) VALUES (?1, ?2, ?3, 0)
            ON CONFLICT(account) DO UPDATE SET asking = ?2, asked_at = ?3, found = 0
            """, [account, .integer(answers), .integer(step.steady.now)])
    }

    fileprivate func found(_ jid: JID, _ info: DiscoveryInfo) throws {
        let form = info.forms.first { $0.formType == UploadSlot.namespace }
        let limit = form?["max-file-size"]?.values.first.flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        try database.run(
            """
            UPDATE upload_service SET jid = ?2, max_size = ?3, asking = 0, found = 1 WHERE account = ?1 AND found = 0
            """, [account, .text(jid.description), .optional(limit)])
        try Uploads(step: step).didDiscoverService()
    }

    /// Handles a response without a service, or a timeout.
    /// - Parameter nothing: whether a response was received, which shows that there is no service.
    fileprivate func notFound(nothing: Bool) throws {
        try database.run(
            "UPDATE upload_service SET asking = max(0, asking - 1) WHERE account = ?", [account])
        let isOver = try database.statement(
            "SELECT 1 FROM upload_service WHERE account = ? AND asking = 0 AND found = 0"
        ).first([account]) { _ in true }
        guard isOver ?? false else { return }
        guard nothing else {
            // A timeout does not show whether there is a service: the next file starts another discovery.
            try database.run("UPDATE upload_service SET asked_at = 0 WHERE account = ?", [account])
            return try Uploads(step: step).serviceSilent()
        }
        try database.run("UPDATE upload_service SET jid = NULL, max_size = NULL WHERE account = ?", [account])
        step.filesChanged()
    }
}

extension UploadServices {
    /// Discards the result: the service returns errors, or the session of the query was lost. The next file starts another discovery.
    func forget() throws {
        try database.run("UPDATE upload_service SET asking = 0, asked_at = 0 WHERE account = ?", [account])
        step.filesChanged()
    }
}

/// The response to the query for the server's items.
struct UploadServiceItemsResponse: InvalidatableHandler {
    static let name = "files.items"

    func call(_ reply: DiscoveryReply<[DiscoveryItem]>, in step: Step) throws {
        switch reply {
        case .found(let items): try UploadServices(step: step).queryItems(items)
        case .refused: try UploadServices(step: step).notFound(nothing: true)
        case .timeout: try UploadServices(step: step).notFound(nothing: false)
        }
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws { try UploadServices(step: step).forget() }
}

/// The response to the query for an item's features.
struct UploadServiceInfoResponse: InvalidatableHandler {
    static let name = "files.service"
    let jid: JID

    func call(_ reply: DiscoveryReply<DiscoveryInfo>, in step: Step) throws {
        let services = UploadServices(step: step)
        switch reply {
        case .found(let info) where info.supports(UploadSlot.namespace): try services.found(jid, info)
        case .found, .refused: try services.notFound(nothing: true)
        case .timeout: try services.notFound(nothing: false)
        }
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws { try UploadServices(step: step).forget() }
}
