import KalijCore
import KalijAddress
import KalijHandlers
import KalijStream

/// The response to a query about a hash.
struct CapabilitiesResponse: Handler {
    package static let name = "discovery.capabilities"
    package let jid: JID
    let hash: String

    func call(_ reply: IQReply, in step: Step) throws {
        try CapabilityQueries(step: step).answered(reply, by: jid, about: hash)
    }
}

/// The response to a query for an entity's features.
struct DiscoInfoResponse: InvalidatableHandler {
    package static let name = "discovery.info"
    package let jid: JID
    let node: String?
    package let then: Callback<Step, DiscoveryReply<DiscoveryInfo>>

    func call(_ reply: IQReply, in step: Step) throws {
        let info = reply.discoveryInfo
        if node == nil, let info { try step.discovery.store(info, by: jid) }
        try step.pass(DiscoveryReply(reply, info), to: then)
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {
        try step.pass(reason, to: then)
    }
}

/// Delivers an entity's features that were cached when they were requested.
struct CachedDiscoInfoDelivery: InvalidatableHandler {
    package static let name = "discovery.known"
    package let jid: JID
    package let milliseconds: Int64
    package let then: Callback<Step, DiscoveryReply<DiscoveryInfo>>

    func call(_: Void, in step: Step) throws {
        guard let info = try step.discovery.info(of: jid) else {
            // The entity has become unavailable in the meantime.
            return try step.discovery.sendQuery(jid, then, within: .milliseconds(milliseconds))
        }
        try step.pass(.found(info), to: then)
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {
        try step.pass(reason, to: then)
    }
}

/// The response to a query for an entity's items.
struct DiscoItemsResponse: InvalidatableHandler {
    package static let name = "discovery.items"
    package let then: Callback<Step, DiscoveryReply<[DiscoveryItem]>>

    func call(_ reply: IQReply, in step: Step) throws {
        try step.pass(DiscoveryReply(reply, reply.discoveryItems), to: then)
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {
        try step.pass(reason, to: then)
    }
}

extension Step {
    /// Calls the requester's handler. A handler that cannot be called becomes a dead letter; the query is not repeated.
    fileprivate func pass<Input>(_ input: Input, to then: Callback<Step, Input>) throws {
        try orBury(then) { try call(then, input) }
    }

    fileprivate func pass<Input>(_ reason: Invalidation, to then: Callback<Step, Input>) throws {
        try orBury(then) { try invalidate(then, reason) }
    }

    private func orBury<Input>(_ then: Callback<Step, Input>, _ body: () throws -> Void) throws {
        do {
            try undoable(body)
        } catch let error as HandlerError {
            try DeadLetters(step: self).bury(then.stored.bytes, because: "\(error)", from: .request)
        }
    }
}
