import KalijCore
import KalijAddress
import KalijHandlers
import KalijStore
import KalijStream
import KalijText
import KalijXML

extension Step {
    /// The features of other entities.
    public var discovery: Discovery { Discovery(step: self) }
}

/// Service discovery (XEP-0030): features cached from the hashes in presence (XEP-0115, XEP-0390), or from a response.
///
/// ```swift
/// if try step.discovery.supports("urn:xmpp:receipts", phone) == true { ... }
/// try step.discovery.ask(service, then: ServiceFound())
/// ```
public struct Discovery {
    package let step: Step

    // MARK: Cached features

    /// The cached features of an entity in this session, without a query; nil if there are none.
    /// - Parameter jid: for a client the full address.
    public func info(of jid: JID) throws -> DiscoveryInfo? {
        let bytes = try step.database.statement(
            """
            SELECT coalesce(c.info, e.info) AS info FROM entity e LEFT JOIN capability c ON c.hash = e.hash
            WHERE e.account = ? AND e.jid = ?
            """
        ).first([.integer(step.account.id), .text(jid.description)]) { $0.optionalBlob() }
        return (bytes ?? nil).flatMap(EntityCapabilities.read)
    }

    /// Whether an entity supports a feature, without a query; nil if that is unknown.
    /// - Parameters:
    ///   - jid: for a client the full address.
    ///   - feature: its namespace.
    public func supports(_ feature: String, _ jid: JID) throws -> Bool? { try info(of: jid)?.supports(feature) }

    /// The available entities that are known to support a feature.
    /// - Parameters:
    ///   - contact: only this address and its clients; nil for all.
    ///   - feature: its namespace.
    public func entities(supporting feature: String, of contact: JID? = nil) throws -> [JID] {
        let all = try step.database.statement(
            """
            SELECT e.jid, e.hash, coalesce(c.info, e.info) AS info FROM entity e LEFT JOIN capability c ON c.hash = e.hash
            WHERE e.account = ?1 AND (?2 IS NULL OR e.jid = ?2 OR (e.jid >= ?2 || '/' AND e.jid < ?2 || '0'))
                AND coalesce(c.info, e.info) IS NOT NULL ORDER BY e.jid
            """)
        var known: [ExactText: Bool] = [:]
        var found: [JID] = []
        try all.each([.integer(step.account.id), .optional(contact?.bare.description)]) { row in
            let hash = row.text("hash")
            let isSupported = known[hash.exact] ?? EntityCapabilities.read(row.blob("info"))?.supports(feature) ?? false
            // The features of an entity without a verified hash apply to that entity alone.
            if hash.begins(with: "caps") { known[hash.exact] = isSupported }
            if isSupported { found.append(.received(row.text("jid"))) }
        }
        return found
    }

    // MARK: Queries

    /// Queries an entity or a node of an entity for its features. Cached features are delivered without a query, but never before the
    /// end of this step.
    ///
    /// The handler is called once: with the features, an error, or a timeout; or invalidated.
    /// - Parameters:
    ///   - jid: for a client the full address; for a bare address the server responds.
    ///   - node: a part of the entity (XEP-0030 section 3.2); nil is the entity itself.
    ///   - duration: the timeout.
    ///   - handler: the handler to call, with its bound values.
    /// - Throws: `HandlerError` if the handler cannot be stored; `StoreError`.
    public func ask<H: Handler>(
        _ jid: JID, node: String? = nil, then handler: H, within duration: Duration = .seconds(60)
    ) throws where H.Context == Step, H.Input == DiscoveryReply<DiscoveryInfo> {
        let then = try Callback<Step, DiscoveryReply<DiscoveryInfo>>(handler)
        if node == nil, try info(of: jid) != nil {
            try step.schedule(
                CachedDiscoInfoDelivery(jid: jid, milliseconds: duration.milliseconds, then: then), at: step.now)
        } else {
            try sendQuery(jid, node: node, then, within: duration)
        }
    }

    package func sendQuery(
        _ jid: JID, node: String? = nil, _ then: Callback<Step, DiscoveryReply<DiscoveryInfo>>,
        within duration: Duration
    ) throws {
        try step.send(
            .discovery(DiscoveryInfo.namespace, of: jid, node: node),
            then: DiscoInfoResponse(jid: jid, node: node, then: then),
            within: duration)
    }

    /// Queries an entity or a node of an entity for its items (XEP-0030 section 4).
    ///
    /// The handler is called once: with the items, an error, or a timeout; or invalidated.
    /// - Throws: `HandlerError` if the handler cannot be stored; `StoreError`.
    public func askItems<H: Handler>(
        of jid: JID, node: String? = nil, then handler: H, within duration: Duration = .seconds(60)
    ) throws where H.Context == Step, H.Input == DiscoveryReply<[DiscoveryItem]> {
        try step.send(
            .discovery(DiscoveryItem.namespace, of: jid, node: node), then: DiscoItemsResponse(then: Callback(handler)),
            within: duration)
    }

    /// Stores an entity's features for the rest of the session.
    package func store(_ info: DiscoveryInfo, by jid: JID) throws {
        guard let bytes = EntityCapabilities.bytes(info) else { return }
        try Entities(step: step).spoke(jid, bytes)
    }
}

/// The outcome of a service discovery query.
public enum DiscoveryReply<Found> {
    /// The response of the entity.
    case found(Found)
    /// The entity, or a server on the path, returned an error; or the response was empty.
    case refused(StanzaError)
    /// The query has timed out.
    case timeout

    package init(_ reply: IQReply, _ found: Found?) {
        switch reply {
        case .result:
            self = found.map { .found($0) } ?? .refused(StanzaError(.undefinedCondition, text: "an empty answer"))
        case .error(let error, _): self = .refused(error)
        case .timeout: self = .timeout
        }
    }
}

extension IQReply {
    /// The response to a `disco#info` query; nil if there is none.
    public var discoveryInfo: DiscoveryInfo? {
        guard case .result(let iq) = self, let query = iq.child("query", DiscoveryInfo.namespace) else { return nil }
        return DiscoveryInfo(query, language: iq["xml:lang"])
    }

    /// The same response without the language of the enclosing stanza.
    var discoveryInfoAlone: DiscoveryInfo? {
        guard case .result(let iq) = self, let query = iq.child("query", DiscoveryInfo.namespace) else { return nil }
        return DiscoveryInfo(query)
    }

    /// The response to a `disco#items` query; nil if there is none.
    public var discoveryItems: [DiscoveryItem]? {
        guard case .result(let iq) = self else { return nil }
        return iq.child("query", DiscoveryItem.namespace).flatMap(DiscoveryItem.all)
    }
}

extension Element {
    /// The `<iq/>` of a service discovery query (XEP-0030).
    /// - Parameter namespace: the namespace of ``DiscoveryInfo`` or ``DiscoveryItem``.
    public static func discovery(_ namespace: String, of jid: JID, node: String? = nil) -> Element {
        let query = Element("query", xmlns: namespace)
        query["node"] = node
        return .request(.get, query, to: jid)
    }
}
