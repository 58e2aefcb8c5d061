/// What is to be shown of each text, computed from the set of the record's messages alone.
struct ShownModel {
    struct Shown: Equatable {
        /// Nil for a retracted text.
        var text: String?
        var isEdited = false
        var isRetracted = false
        /// The emoji, by the authors' bare addresses.
        var reactions: [String: [String]] = [:]
    }

    private let messages: [ArchivedMessage]
    private let operations: [Int: SimulatedOperation]
    private let account: String
    /// The first message with an id, by conversation and id.
    private var named: [String: ArchivedMessage] = [:]
    /// The operations on a text, in the record's order, by the text's number.
    private(set) var changes: [Int: [ArchivedMessage]] = [:]

    init(_ messages: [ArchivedMessage], _ operations: [Int: SimulatedOperation], account: String) {
        (self.messages, self.operations, self.account) = (messages, operations, account)
        for message in messages.reversed() { named[key(message.messageID, message)] = message }
        for message in messages {
            if let target = target(of: message) { changes[target.number, default: []].append(message) }
        }
    }

    func author(of message: ArchivedMessage) -> String { String(message.from.prefix { $0 != "/" }) }

    func conversation(of message: ArchivedMessage) -> String {
        let from = author(of: message)
        return from == account ? String(message.to.prefix { $0 != "/" }) : from
    }

    private func key(_ id: String, _ message: ArchivedMessage) -> String { conversation(of: message) + " " + id }

    /// Whether the text is the first under its id; a later one is the same, sent again.
    func isFirst(_ text: ArchivedMessage) -> Bool { named[key(text.messageID, text)]?.number == text.number }

    /// The text that an operation changes: the named text, or the text that the named correction corrects. Only its author corrects
    /// and retracts a text.
    func target(of message: ArchivedMessage) -> ArchivedMessage? {
        guard let operation = operations[message.number],
            let target = named[key(operation.reference, message)], target.number != message.number,
            operation.kind == .reaction || author(of: target) == author(of: message)
        else { return nil }
        guard let other = operations[target.number] else { return target.body == nil ? nil : target }
        return other.kind == .correction ? self.target(of: target) : nil
    }

    /// An operation, the chain of named corrections, and the changed text.
    func chain(of message: ArchivedMessage) -> [ArchivedMessage] {
        guard let operation = operations[message.number], let next = named[key(operation.reference, message)],
            next.number != message.number
        else { return [message] }
        return [message] + chain(of: next)
    }

    /// Whether a correction without a target was retracted by its author: with the text that nobody has seen.
    func isRetracted(_ correction: ArchivedMessage) -> Bool {
        let name = root(of: correction)
        return messages.contains { message in
            operations[message.number]?.kind == .retraction && author(of: message) == author(of: correction)
                && conversation(of: message) == conversation(of: correction) && root(of: message) == name
        }
    }

    /// The id at the end of a chain of names.
    private func root(of message: ArchivedMessage) -> String? {
        chain(of: message).last.flatMap { operations[$0.number]?.reference }
    }

    func shown(_ text: ArchivedMessage) -> Shown {
        var shown = Shown(text: text.body)
        for change in changes[text.number] ?? [] {
            guard let operation = operations[change.number] else { continue }
            switch operation.kind {
            case .correction:
                shown.text = operation.text
                shown.isEdited = true
            case .retraction: shown.isRetracted = true
            case .reaction: shown.reactions[author(of: change)] = operation.emoji.isEmpty ? nil : operation.emoji
            }
        }
        if shown.isRetracted { (shown.text, shown.isEdited) = (nil, false) }
        return shown
    }

    /// All texts that people can have seen of a message.
    func texts(of message: ArchivedMessage) -> [String] {
        [message.text]
            + (changes[message.number] ?? []).compactMap { operations[$0.number]?.text }.filter { !$0.isEmpty }
    }
}
