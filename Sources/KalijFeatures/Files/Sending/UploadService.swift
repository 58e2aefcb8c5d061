import KalijAddress
import KalijHandlers
import KalijSteps
import KalijStore
import KalijStream
import KalijXML

/// The service of the account's server that takes files (XEP-0363 section 4). The last known service is kept in a row: a resumed
/// session asks nobody.
package struct UploadServices {
    let step: Step
    private var database: Database { step.database }
    private var account: Value { .integer(step.account.id) }

    init(step: Step) { self.step = step }

    /// A service with its limit.
    package struct Service: Equatable {
        package let jid: JID
        /// The largest file that the service takes, in bytes; nil if the service does not say.
        package let limit: Int64?
    }

    /// What is known of the service.
    package enum Knowledge: Equatable {
        case unknown
        case none
        case known(Service)
    }

    /// The most items of a server that are asked.
    private static let mostItems = 20

    package static func known(to account: Int64, in database: Database) throws -> Knowledge {
        try database.statement("SELECT jid, max_size, asking FROM upload_service WHERE account = ?")
            .first([.integer(account)]) { row in
                guard let jid = row.optionalText("jid") else { return row.integer("asking") > 0 ? .unknown : .none }
                return .known(Service(jid: .received(jid), limit: row.optionalInteger("max_size")))
            } ?? .unknown
    }

    // MARK: Hosts

    /// The host of a URL, in lower case.
    package static func host(of url: String) -> String { FileAddress.host(of: url) ?? "" }

    /// The hosts of the account's own server, which may have private addresses.
    package static func hosts(of account: Account, in database: Database) throws -> Set<String> {
        let row = try database.statement("SELECT jid, host FROM upload_service WHERE account = ?")
            .first([.integer(account.id)]) { ($0.optionalText("jid"), $0.optionalText("host")) }
        return Set([account.jid.domain, row?.0, row?.1].compactMap { $0?.lowercased() })
    }

    /// A slot has an address of this host.
    func note(host: String) throws {
        try database.run(
            "UPDATE upload_service SET host = ?1 WHERE account = ?2 AND host IS NOT ?1", [.text(host), account])
    }

    // MARK: Looking

    /// A session has begun, and the features of the server are known.
    func look(_ info: DiscoveryInfo) throws {
        guard let server = try? JID(step.account.jid.domain) else { return }
        if info.supports(UploadSlot.namespace) { return try found(server, info) }
        try expect(1)
        try step.discovery.askItems(of: server, then: UploadItemsTold(), within: Limits.serverPatience)
    }

    fileprivate func told(_ items: [DiscoveryItem]) throws {
        let services = Set(items.compactMap { $0.node == nil ? $0.jid : nil }).sorted {
            $0.description < $1.description
        }
        guard !services.isEmpty else { return try told(nothing: true) }
        try expect(Int64(min(services.count, Self.mostItems)))
        for jid in services.prefix(Self.mostItems) {
            try step.discovery.ask(jid, then: UploadServiceTold(jid: jid), within: Limits.serverPatience)
        }
    }

    private func expect(_ answers: Int64) throws {
        try database.run(
            """
            INSERT INTO upload_service(account, asking, found) VALUES (?1, ?2, 0)
            ON CONFLICT(account) DO UPDATE SET asking = ?2, found = 0
            """, [account, .integer(answers)])
    }

    fileprivate func found(_ jid: JID, _ info: DiscoveryInfo) throws {
        let form = info.forms.first { $0.formType == UploadSlot.namespace }
        let limit = form?["max-file-size"]?.values.first.flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        try database.run(
            """
            INSERT INTO upload_service(account, jid, max_size, asking, found) VALUES (?1, ?2, ?3, 0, 1)
            ON CONFLICT(account) DO UPDATE SET jid = ?2, max_size = ?3, asking = max(0, asking - 1), found = 1
            WHERE found = 0
            """, [account, .text(jid.description), .optional(limit)])
        try Uploads(step: step).serviceKnown()
    }

    /// An answer has come, or will not come.
    /// - Parameter nothing: whether the answer says that there is no service.
    fileprivate func told(nothing: Bool) throws {
        try database.run(
            "UPDATE upload_service SET asking = max(0, asking - 1) WHERE account = ?", [account])
        let isOver = try database.statement(
            "SELECT 1 FROM upload_service WHERE account = ? AND asking = 0 AND found = 0"
        ).first([account]) { _ in true }
        guard isOver ?? false else { return }
        guard nothing else { return try Uploads(step: step).serviceSilent() }
        try database.run("UPDATE upload_service SET jid = NULL, max_size = NULL WHERE account = ?", [account])
        step.filesChanged()
    }
}

/// The items of the server are known.
struct UploadItemsTold: Handler {
    static let name = "files.items"

    func call(_ reply: DiscoveryReply<[DiscoveryItem]>, in step: Step) throws {
        switch reply {
        case .found(let items): try UploadServices(step: step).told(items)
        case .refused: try UploadServices(step: step).told(nothing: true)
        case .timeout: try UploadServices(step: step).told(nothing: false)
        }
    }
}

/// The features of an item are known.
struct UploadServiceTold: Handler {
    static let name = "files.service"
    let jid: JID

    func call(_ reply: DiscoveryReply<DiscoveryInfo>, in step: Step) throws {
        let services = UploadServices(step: step)
        switch reply {
        case .found(let info) where info.supports(UploadSlot.namespace): try services.found(jid, info)
        case .found, .refused: try services.told(nothing: true)
        case .timeout: try services.told(nothing: false)
        }
    }
}
