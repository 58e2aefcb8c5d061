import KalijAddress
import KalijClient

/// Who can read what is written after encryption was switched on.
public enum EncryptionOutcome: Sendable, Equatable {
    /// The servers have not said yet who has keys.
    case pending
    /// Everybody has keys.
    case done
    /// Who has none, in words.
    case keyless(String)

    /// - Parameters:
    ///   - group: whether the conversation is a group.
    ///   - name: the name of the person.
    ///   - names: the names of people by their addresses.
    init(_ keys: ConversationKeys, isGroup: Bool, name: String, names: (JID) throws -> String) rethrows {
        guard keys.pending.isEmpty else {
            self = .pending
            return
        }
        if keys.isKeyless {
            self = .keyless(isGroup ? Words.nobodyCanBeEncrypted : Words.cannotBeEncrypted(name))
        } else if keys.keyless.isEmpty {
            self = .done
        } else {
            self = .keyless(Words.encryptedWithout(try keys.keyless.map(names).joined(separator: ", ")))
        }
    }
}
