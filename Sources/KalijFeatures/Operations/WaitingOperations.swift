import KalijCore
import KalijStore
import KalijText

/// Corrections and retractions of messages that are not stored.
struct WaitingOperations {
    let database: Database
    let account: Account

    /// An operation, and the ids by which other operations may refer to it or its message.
    private struct Named {
        let row: OperationRow
        let ids: Set<ExactText>
    }

    /// The waiting corrections and retractions of the same message by the author of `operation`, as far as their references show: an
    /// operation may refer to a correction instead of the message. Without their texts.
    func alike(_ operation: OperationRow) throws -> [OperationRow] {
        var (others, alike) = (try all(like: operation), [OperationRow]())
        var names: Set = [operation.operation.reference.exact]
        while true {
            let found = others.filter { !$0.ids.isDisjoint(with: names) }
            guard !found.isEmpty else { return alike }
            others.removeAll { !$0.ids.isDisjoint(with: names) }
            names.formUnion(found.flatMap(\.ids))
            alike += found.map(\.row)
        }
    }

    /// The waiting operations of an author in a conversation, whose number is limited, and those that the step has added.
    private func all(like operation: OperationRow) throws -> [Named] {
        try database.statement(
            """
            SELECT o.message, o.kind, o.author, o.conversation, o.reference, NULL AS content, o.target,
                m.message_id, m.origin_id, m.stanza_id
            FROM operation o CROSS JOIN message m ON m.id = o.message
            WHERE o.account = ? AND o.conversation = ? AND o.author = ? AND o.target IS NULL AND o.kind <> ?
            ORDER BY o.message DESC LIMIT 200
            """
        ).all(
            [
                .integer(account.id), .text(operation.conversation), .text(operation.author),
                .state(MessageOperation.Kind.reaction),
            ]
        ) { row in
            let named = OperationRow(row)
            var ids: Set = [named.operation.reference.exact]
            // No operation refers to a retraction.
            if named.operation.kind == .correction {
                let own = [row.text("message_id"), row.optionalText("origin_id"), row.optionalText("stanza_id")]
                ids.formUnion(own.compactMap { $0 }.filter { !$0.isEmpty }.map(\.exact))
            }
            return Named(row: named, ids: ids)
        }
    }
}
