import KalijCore
import KalijXML

/// An event of a PEP node of any entity (XEP-0163 section 4.3).
package struct NodeEvent {
    package enum Change {
        /// The newest item has this content.
        case content(Element)
        /// The item with this id was retracted; newer items may remain.
        case retracted(String)
        /// All items were removed, or the node was deleted.
        case emptied
    }

    private static let namespace = "http://jabber.org/protocol/pubsub#event"

    /// The name of the node.
    package let node: String
    package let change: Change

    /// Whether the message may be an event.
    package static func isMeant(by message: Element) -> Bool { message.child("event", namespace) != nil }

    /// Parses an event message; nil for any other message. Only a bare address has nodes.
    package init?(_ message: IncomingMessage) {
        guard message.source == .live, let event = message.element.child("event", Self.namespace),
            message.sender.isBare, let part = event.children.first, let node = part["node"]
        else { return nil }
        self.node = node
        if part.isNamed("purge", Self.namespace) || part.isNamed("delete", Self.namespace) {
            change = .emptied
        } else if let content = part.children("item").last?.children.first {
            change = .content(content)
        } else if let id = part.child("retract")?["id"] {
            change = .retracted(id)
        } else {
            return nil
        }
    }
}
