import KalijAddress
import KalijCore
import KalijXML

/// Blocks an address (XEP-0191 section 3.3).
public struct Block: Intent {
    /// The reason for a report (XEP-0377 section 3).
    public enum Reason: String, Codable, Sendable, CaseIterable {
        /// Unwanted messages.
        case spam
        /// Any other abuse.
        case abuse
    }

    public static let name = "block"
    /// The address of a user, a client or a server.
    public let jid: JID
    /// The reason of the report; nil for no report.
    public let report: Reason?

    private enum CodingKeys: String, CodingKey {
        case jid = "address"
        case report
    }

    /// - Parameters:
    ///   - jid: the address of a user, a client or a server.
    ///   - report: the reason of the report, which is sent if the server supports reports; nil for no report.
    public init(_ jid: JID, report: Reason? = nil) { (self.jid, self.report) = (jid, report) }

    public func check() throws { try jid.checkBlockable() }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        try check()
        guard jid.bare != step.account.jid else { throw IntentFailure("\(jid) is the account itself") }
        let abilities = try Blocklist(step: step).checkOffered()
        try BlockRequest(
            intent: id, jid, isBlocked: true, report: abilities.takesReports ? report : nil
        ).send(in: step)
        return .pending
    }
}

/// Unblocks an address (XEP-0191 section 3.4).
public struct Unblock: Intent {
    public static let name = "unblock"
    /// The address, as it was blocked.
    public let jid: JID

    private enum CodingKeys: String, CodingKey { case jid = "address" }

    /// - Parameter jid: the address, as it was blocked.
    public init(_ jid: JID) { self.jid = jid }

    public func check() throws { try jid.checkBlockable() }

    public func perform(_ id: String, in step: Step) throws -> IntentOutcome {
        _ = try Blocklist(step: step).checkOffered()
        try BlockRequest(intent: id, jid, isBlocked: false, report: nil).send(in: step)
        return .pending
    }
}

extension Blocklist {
    /// - Returns: the abilities of the server. If they were never discovered, the request is sent nevertheless: a server without
    ///   support responds with an error.
    /// - Throws: `IntentFailure` if the server does not support blocking.
    fileprivate func checkOffered() throws -> (isOffered: Bool, takesReports: Bool) {
        guard let abilities = try abilities else { return (true, false) }
        guard abilities.isOffered else { throw IntentFailure("the server cannot block anybody (XEP-0191)") }
        return abilities
    }
}

extension JID {
    fileprivate func checkBlockable() throws {
        guard isPrepared else { throw IntentFailure("\(self) is no address") }
    }
}

/// The response to a request to block or unblock an address.
struct BlockRequest: IntentRequest {
    static let name = "blocking.changed"
    let intent: String
    var attempt = 1
    let jid: JID
    let isBlocked: Bool
    let report: Block.Reason?

    init(intent: String, _ jid: JID, isBlocked: Bool, report: Block.Reason?) {
        (self.intent, self.jid, self.isBlocked, self.report) = (intent, jid, isBlocked, report)
    }

    func request(in step: Step) -> Element {
        let item = Element("item", xmlns: BlockingFeature.namespace, attributes: ["jid": jid.description])
        if let report {
            item.add(
                Element(
                    "report", xmlns: BlockingFeature.reporting,
                    attributes: ["reason": "urn:xmpp:reporting:\(report.rawValue)"]))
        }
        return .request(
            .set, Element(isBlocked ? "block" : "unblock", xmlns: BlockingFeature.namespace, children: [item]))
    }

    /// Applies the change that the push announces, too: a server may omit the push to the client that made the change.
    func done(_ result: Element?, in step: Step) throws -> IntentOutcome {
        if isBlocked { try Blocklist(step: step).add(jid) } else { try Blocklist(step: step).remove(jid) }
        return .done
    }
}
