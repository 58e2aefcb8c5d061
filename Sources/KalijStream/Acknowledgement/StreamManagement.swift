import KalijXML

/// The counters of a stream-management session (XEP-0198), and their part in handling each element.
///
/// A value: a failing step discards its copy, and the session is unchanged. Begins when `Negotiation` returns `.established`, and
/// outlives connections: after `<resumed/>` the stored counts continue.
public struct StreamManagement: Hashable, Sendable {
    /// The kind of a received element.
    public enum Received: Sendable {
        /// A stanza, with the new count. It is to be acknowledged after it was stored.
        case stanza(HandledCount)
        /// `<r/>`: an `<a/>` is due, after a barrier of the disk.
        case acknowledgementRequested
        /// `<a/>`: the server has handled this many more sent stanzas, the oldest first; 0 for an unchanged count.
        case acknowledged(newly: UInt32)
        /// The server ends the stream.
        case streamError(StreamError)
        /// Something else, not counted.
        case nonza
    }

    /// The number of the server's stanzas that were handled: the next "h" to send.
    public private(set) var handled: HandledCount
    /// The number of sent stanzas that the server has handled: the last "h" received.
    public private(set) var acknowledged: HandledCount

    /// Creates the counters of a new session (both zero) or of a resumed session.
    public init(handled: HandledCount = .zero, acknowledged: HandledCount = .zero) {
        self.handled = handled
        self.acknowledged = acknowledged
    }

    /// Counts an element from the stream.
    ///
    /// - Parameters:
    ///   - element: a child of the stream.
    ///   - unacknowledged: the number of stanzas that were sent in this session and are not acknowledged.
    /// - Returns: the kind of the element.
    /// - Throws: `StreamManagementError`; the stream has to be closed with the error's `bytes`.
    public mutating func receive(
        _ element: Element, unacknowledged: Int
    ) throws(StreamManagementError) -> Received {
        if element.isStanza { return .stanza(count()) }
        if Self.isRequest(element) { return .acknowledgementRequested }
        guard element.isNamed("a", Namespace.streamManagement) else {
            return StreamError(element).map(Received.streamError) ?? .nonza
        }
        guard let handled = element["h"].flatMap(HandledCount.init(attribute:)) else { throw .invalidCount }
        return .acknowledged(newly: try acknowledge(handled, unacknowledged: unacknowledged))
    }

    /// Counts `element` if it is a stanza; false if it is none.
    public mutating func receive(stanza element: Element) -> Bool {
        guard element.isStanza else { return false }
        _ = count()
        return true
    }

    /// Counts a stanza that was skipped for its size: it counts as handled, because the server would otherwise redeliver it.
    ///
    /// - Parameters:
    ///   - name: the local name of the skipped element.
    ///   - namespace: the element's namespace.
    /// - Returns: the new count; nil if such an element is not counted.
    public mutating func receiveSkipped(name: String, namespace: String?) -> HandledCount? {
        guard namespace == Namespace.client, Element.stanzaNames.contains(name) else { return nil }
        return count()
    }

    /// Applies the server's count, from `<a/>`, `<resumed/>` or `<failed/>`.
    ///
    /// - Parameters:
    ///   - count: the "h".
    ///   - unacknowledged: the number of stanzas that were sent in this session and are not acknowledged.
    /// - Returns: the number of newly acknowledged stanzas, the oldest first.
    /// - Throws: `StreamManagementError`, if the count exceeds what was sent.
    public mutating func acknowledge(
        _ count: HandledCount, unacknowledged: Int
    ) throws(StreamManagementError) -> UInt32 {
        let newly = count.distance(from: acknowledged)
        let outstanding = UInt32(clamping: unacknowledged)
        guard newly <= outstanding else {
            let sent = acknowledged.advanced(by: outstanding)
            throw .handledCountTooHigh(count, sent: sent, acknowledged: acknowledged)
        }
        acknowledged = count
        return newly
    }

    private mutating func count() -> HandledCount {
        handled = handled.advanced()
        return handled
    }

    /// Whether an element is `<r/>`.
    public static func isRequest(_ element: Element) -> Bool { element.isNamed("r", Namespace.streamManagement) }
}

/// A violation of XEP-0198 by the server on an established stream.
public enum StreamManagementError: Error, Hashable, Sendable {
    /// The server acknowledges more than was sent, or revokes an acknowledgement (which is the same, modulo 2^32).
    case handledCountTooHigh(HandledCount, sent: HandledCount, acknowledged: HandledCount)
    /// `<a/>` without a number as its "h".
    case invalidCount

    /// The stream error for the server, and the end of the stream (XEP-0198, 6).
    public var bytes: [UInt8] {
        switch self {
        case .handledCountTooHigh(let count, let sent, _):
            let details = Element(
                "handled-count-too-high", xmlns: Namespace.streamManagement,
                attributes: ["h": "\(count)", "send-count": "\(sent)"])
            let text = "You acknowledged \(count) stanzas, but I only sent you \(sent) so far."
            return StreamError(.undefinedCondition, text: text).bytes(details: details)
        case .invalidCount:
            return StreamError(.badFormat, text: "An acknowledgement without a valid h.").bytes()
        }
    }
}

extension StreamManagementError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .handledCountTooHigh(let count, let sent, let acknowledged):
            "the server acknowledged \(count) stanzas; \(sent) were sent and \(acknowledged) acknowledged before"
        case .invalidCount: "the server sent an acknowledgement without a valid count"
        }
    }
}
