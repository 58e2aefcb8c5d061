import KalijText

/// The messages that a search covers.
package enum SearchScope {
    /// All messages of all accounts.
    case everything
    case accounts([Int64])
    /// Messages with a bare address, or an occupant's full address.
    case conversations([(account: Int64, name: String)])

    /// The expression for `words` in these messages, in FTS5's language.
    func expression(_ words: SearchWords) -> String {
        let text = "body : (\(words.expression))"
        let scope =
            switch self {
            case .everything: [String]()
            case .accounts(let accounts): accounts.map { Self.word(account: $0) }
            case .conversations(let all): all.map { Self.word(conversation: Self.hash($0.account, $0.name)) }
            }
        return scope.isEmpty ? text : "scope : (\(scope.joined(separator: " OR "))) AND \(text)"
    }

    func contains(_ account: Int64, _ conversation: String) -> Bool {
        switch self {
        case .everything: true
        case .accounts(let accounts): accounts.contains(account)
        case .conversations(let all): all.contains { $0.account == account && $0.name.exact == conversation.exact }
        }
    }

    // MARK: In the index

    /// The words of a text's scope in the index: its account, and a hash of its conversation.
    static func indexed(_ account: Int64, _ conversation: Int64) -> String {
        "\(word(account: account)) \(word(conversation: conversation))"
    }

    /// FNV-1a. Of conversations with one hash, the messages are compared.
    static func hash(_ account: Int64, _ conversation: String) -> Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in "\(account) \(conversation)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Int64(bitPattern: hash)
    }

    private static func word(account: Int64) -> String { "a\(account)" }
    private static func word(conversation: Int64) -> String {
        "c" + String(UInt64(bitPattern: conversation), radix: 16)
    }
}
