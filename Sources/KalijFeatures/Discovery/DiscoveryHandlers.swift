import KalijSteps
import KalijAddress
import KalijHandlers
import KalijStream

/// Somebody has said what a hash stands for, or not.
struct CapabilitiesTold: Handler {
    package static let name = "discovery.capabilities"
    package let jid: JID
    let hash: String

    func call(_ reply: IQReply, in step: Step) throws {
        try Inquiries(step: step).answered(reply, by: jid, about: hash)
    }
}

/// An entity has said what it is.
struct InfoTold: InvalidatableHandler {
    package static let name = "discovery.info"
    package let jid: JID
    let node: String?
    package let then: Callback<Step, DiscoveryReply<DiscoveryInfo>>

    func call(_ reply: IQReply, in step: Step) throws {
        let info = reply.discoveryInfo
        if node == nil, let info { try step.discovery.told(info, by: jid) }
        try step.pass(DiscoveryReply(reply, info), to: then)
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {
        try step.pass(reason, to: then)
    }
}

/// What an entity is was known when it was asked for.
struct InfoKnown: InvalidatableHandler {
    package static let name = "discovery.known"
    package let jid: JID
    package let milliseconds: Int64
    package let then: Callback<Step, DiscoveryReply<DiscoveryInfo>>

    func call(_: Void, in step: Step) throws {
        guard let info = try step.discovery.info(of: jid) else {
            // It is gone since.
            return try step.discovery.ask(jid, then, within: .milliseconds(milliseconds))
        }
        try step.pass(.found(info), to: then)
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws {
        try step.pass(reason, to: then)
    }
}

/// An entity has said what it has.
struct ItemsTold: InvalidatableHandler {
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
    /// Calls what somebody else has bound. If that cannot be called it is a dead letter, and no reason to ask again.
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
