import KalijXML

/// A message that changes another message (XEP-0308, XEP-0424, XEP-0444), as the record keeps it.
struct SimulatedOperation {
    enum Kind { case correction, retraction, reaction }

    let kind: Kind
    /// The id that names the changed message.
    let reference: String
    /// The new text of a correction.
    let text: String
    /// The emoji of a reaction.
    let emoji: [String]

    private static let correction = "urn:xmpp:message-correct:0"
    private static let retraction = "urn:xmpp:message-retract:1"
    private static let reactions = "urn:xmpp:reactions:0"
    private static let all = ["👍", "🌹", "🎉"]

    static func correction(of reference: String, _ text: String) -> Self {
        Self(kind: .correction, reference: reference, text: text, emoji: [])
    }

    static func retraction(of reference: String) -> Self {
        Self(kind: .retraction, reference: reference, text: "", emoji: [])
    }

    static func reaction(to reference: String, _ emoji: [String]) -> Self {
        Self(kind: .reaction, reference: reference, text: "", emoji: emoji)
    }

    /// So many emoji; not always the same.
    static func emoji(_ count: Int, _ number: Int) -> [String] {
        (0..<count).map { all[(number + $0) % all.count] }
    }

    private init(kind: Kind, reference: String, text: String, emoji: [String]) {
        (self.kind, self.reference, self.text, self.emoji) = (kind, reference, text, emoji)
    }

    /// Reads a message of the client's; nil if the message is no operation.
    init?(_ message: Element) {
        if let replace = message.child("replace", Self.correction) {
            self = .correction(of: replace["id"] ?? "", message.child("body", "jabber:client")?.text ?? "")
        } else if let retract = message.child("retract", Self.retraction) {
            self = .retraction(of: retract["id"] ?? "")
        } else if let reactions = message.child("reactions", Self.reactions) {
            self = .reaction(to: reactions["id"] ?? "", reactions.children("reaction").map(\.text))
        } else {
            return nil
        }
    }

    /// The children of a contact's message.
    var content: String {
        switch kind {
        case .correction: "<body>\(text)</body><replace xmlns='\(Self.correction)' id='\(reference)'/>"
        case .retraction:
            """
            <retract xmlns='\(Self.retraction)' id='\(reference)'/><fallback xmlns='urn:xmpp:fallback:0'/>\
            <body>This person has retracted a message.</body>
            """
        case .reaction:
            "<reactions xmlns='\(Self.reactions)' id='\(reference)'>"
                + emoji.map { "<reaction>\($0)</reaction>" }.joined() + "</reactions>"
        }
    }
}
