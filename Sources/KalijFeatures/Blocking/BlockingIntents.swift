import KalijAddress
import KalijSteps
import KalijXML

/// Blocks an address (XEP-0191 section 3.3).
public struct Block: Intent {
    /// What a sender is reported for (XEP-0377 section 3).
    public enum Reason: String, Codable, Sendable, CaseIterable {
        /// Unwanted messages.
        case spam
        /// Anything else that is abuse.
        case abuse
    }

    public static let name = "block"
    /// The address: of a person, a client or a server.
    public let jid: JID
    /// What the sender is reported for; nil for no report.
    public let report: Reason?

    private enum CodingKeys: String, CodingKey {
        case jid = "address"
        case report
    }

    /// - Parameters:
    ///   - jid: the address: of a person, a client or a server.
    ///   - report: what the sender is reported for, where the server takes reports; nil for no report.
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

/// Lets an address be heard again (XEP-0191 section 3.4).
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
    /// - Returns: the abilities of the server; a server that has not said is asked to block, and answers with an error if it
    ///   cannot.
    /// - Throws: `IntentFailure` if the server does not block.
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

/// The server blocks an address, or no longer.
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

    /// The push says the same; a server may leave out the client that made the change.
    func done(_ result: Element?, in step: Step) throws -> IntentOutcome {
        if isBlocked { try Blocklist(step: step).add(jid) } else { try Blocklist(step: step).remove(jid) }
        return .done
    }
}
