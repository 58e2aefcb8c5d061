/// A call that a distributor makes (`org.unifiedpush.Connector1` and `Connector2`).
public struct ConnectorCall: Sendable, Equatable {
    /// What the distributor delivers.
    public enum Content: Sendable, Equatable {
        /// The body of a push, as the push service has received it.
        case message([UInt8])
        /// The address for pushes from now on.
        case newEndpoint(String)
        /// The registration has ended.
        case unregistered
    }

    private static let path = "/org/unifiedpush/Connector"

    /// Of the registration.
    public let token: String
    public let content: Content
    /// The message's id, which the response repeats.
    let id: String?

    init(token: String, _ content: Content, id: String? = nil) {
        (self.token, self.content, self.id) = (token, content, id)
    }

    /// - Returns: nil for a message of another kind, and for one that lacks a field.
    init?(_ message: BusMessage) {
        guard message.isCall, message.path == Self.path, let member = message.member else { return nil }
        switch message.interface {
        case "org.unifiedpush.Connector1"?: self.init(first: member, message)
        case "org.unifiedpush.Connector2"?: self.init(second: member, message)
        default: return nil
        }
    }

    /// Distributors of the first version give a body as bytes or as a text.
    private init?(first member: String, _ message: BusMessage) {
        guard let token = message.text() else { return nil }
        switch member {
        case "Message":
            guard let body = message.bytes() ?? message.text().map({ Array($0.utf8) }) else { return nil }
            self.init(token: token, .message(body))
        case "NewEndpoint":
            guard let endpoint = message.text() else { return nil }
            self.init(token: token, .newEndpoint(endpoint))
        case "Unregistered": self.init(token: token, .unregistered)
        default: return nil
        }
    }

    private init?(second member: String, _ message: BusMessage) {
        let (texts, bytes) = message.fields()
        guard let token = texts["token"] else { return nil }
        switch member {
        case "Message":
            guard let body = bytes["message"] else { return nil }
            self.init(token: token, .message(body), id: texts["id"])
        case "NewEndpoint":
            guard let endpoint = texts["endpoint"] else { return nil }
            self.init(token: token, .newEndpoint(endpoint))
        case "Unregistered": self.init(token: token, .unregistered)
        default: return nil
        }
    }
}
