import KalijCore
import KalijStore
import KalijText

/// The place of a conversation in the list of conversations.
public struct ListPlacement: Sendable, Equatable {
    /// Whether the conversation precedes those that are not pinned.
    public var isPinned: Bool
    /// Whether the list omits the conversation until its next message or draft.
    public var isHidden: Bool
}

extension StoredSettings {
    private static let (pinned, hidden) = ("pinned", "hidden")

    /// The placements of all conversations that were pinned or hidden.
    package func placements() throws -> [ExactText: ListPlacement] {
        let rows = try database.statement(
            "SELECT conversation, name, value FROM setting WHERE account = ? AND name IN ('pinned', 'hidden')"
        ).all([.integer(account)]) {
            (conversation: $0.text("conversation"), name: $0.text("name"), value: $0.text("value"))
        }
        return try rows.reduce(into: [:]) { placements, row in
            let name = row.conversation
            try set(row.name, row.value, of: name, in: &placements[name.exact, default: .normal])
        }
    }

    /// The placement of `conversation`.
    package func placement(of conversation: String) throws -> ListPlacement {
        let rows = try database.statement(
            "SELECT name, value FROM setting WHERE account = ? AND conversation = ? AND name IN ('pinned', 'hidden')"
        ).all([.integer(account), .text(conversation)]) { (name: $0.text("name"), value: $0.text("value")) }
        return try rows.reduce(into: .normal) { try set($1.name, $1.value, of: conversation, in: &$0) }
    }

    private func set(_ name: String, _ value: String, of conversation: String, in placement: inout ListPlacement) throws
    {
        guard name == Self.hidden else { return placement.isPinned = value == "on" }
        guard let place = Int64(value) else { return }
        placement.isHidden = try newestPosition(in: conversation) <= place
    }

    /// The position of the newest message in a conversation; 0 without one.
    private func newestPosition(in conversation: String) throws -> Int64 {
        try MessageReader(database: database, account: account)
            .page(1, with: conversation, before: .max).first?.position ?? 0
    }

    func setPinned(_ isPinned: Bool, _ conversation: String) throws {
        try set(Self.pinned, isPinned ? "on" : "off", for: conversation)
    }

    /// Hides a conversation, whose newest message is stored as the last that it hides.
    func hide(_ conversation: String) throws {
        try set(Self.hidden, "\(try newestPosition(in: conversation))", for: conversation)
    }

    func unhide(_ conversation: String) throws {
        try database.run(
            "DELETE FROM setting WHERE account = ? AND conversation = ? AND name = 'hidden'",
            [.integer(account), .text(conversation)])
    }
}

extension ListPlacement {
    package static let normal = ListPlacement(isPinned: false, isHidden: false)
}
