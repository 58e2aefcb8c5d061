/// The events of interest for a descriptor.
public struct Interest: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Something can be read, or the peer has ended its side.
    public static let read = Interest(rawValue: 1)
    /// Something can be written, or a connection attempt has ended.
    public static let write = Interest(rawValue: 2)
    /// Only the hang-up of the other side, which the others report, too.
    public static let hangup = Interest(rawValue: 4)
}

/// The events of a descriptor.
public struct Readiness: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Reading will not block.
    public static let readable = Readiness(rawValue: 1)
    /// Writing will not block.
    public static let writable = Readiness(rawValue: 2)
    /// Both sides have ended, or there is an error to fetch. Reported for any interest except the empty interest.
    public static let hangup = Readiness(rawValue: 4)
}

/// The watch of an ``EventLoop`` over a descriptor, until ``cancel()``.
///
/// The loop keeps the watch and its handler; cancel it before closing the descriptor.
public final class Watch {
    let descriptor: Int32
    let token: UInt64
    var handler: ((Readiness) -> Void)?
    private weak var loop: EventLoop?

    init(loop: EventLoop?, descriptor: Int32, token: UInt64, interest: Interest, handler: @escaping (Readiness) -> Void)
    {
        self.loop = loop
        self.descriptor = descriptor
        self.token = token
        self.interest = interest
        self.handler = handler
    }

    /// The events to call the handler for. While empty, the handler is not called at all, not even for a hang-up.
    public var interest: Interest {
        didSet {
            guard handler != nil, interest != oldValue else { return }
            loop?.interestChanged(of: self, from: oldValue)
        }
    }

    /// Ends the watch. The handler is not called again, not even for events of the current turn.
    public func cancel() {
        guard handler != nil else { return }
        handler = nil
        loop?.remove(self)
    }
}
