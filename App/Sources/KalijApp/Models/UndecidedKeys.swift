import KalijAddress
import KalijClient

/// What has to be decided on the keys of a conversation before something is sent.
public enum KeyQuestion: Sendable {
    case undecided(UndecidedKeys)
    /// Nobody has keys, in words.
    case keyless(String)
}

/// New keys of a conversation that receive nothing until the user decides.
public struct UndecidedKeys: Sendable {
    /// Whose devices these are, in words: "New device of Juliet, 2 new devices of your account".
    public let words: String
    /// The account, and the first address with such a key.
    public let first: ConversationKey
    private let keys: [(jid: JID, fingerprint: Fingerprint)]

    /// Nil if there are none.
    /// - Parameter names: the names of people by their addresses.
    init?(_ all: [DeviceKey], of account: String, _ name: (JID) throws -> String) rethrows {
        keys = all.compactMap { key in key.fingerprint.map { (key.jid, $0) } }
        guard let jid = keys.first?.jid else { return nil }
        first = ConversationKey(account: account, jid: jid.description)
        var people: [JID] = []
        for key in keys where !people.contains(key.jid) { people.append(key.jid) }
        let counts = keys.reduce(into: [JID: Int]()) { $0[$1.jid, default: 0] += 1 }
        words = try people.map { jid in
            let count = counts[jid] ?? 0
            return try jid.description == account ? Words.newOwnDevices(count) : Words.newDevices(count, of: name(jid))
        }.joined(separator: ", ")
    }

    /// The same decision on all keys.
    public func intents(_ trust: KeyTrust) -> [TrustKey] { keys.map { TrustKey($0.jid, $0.fingerprint, trust) } }
}
