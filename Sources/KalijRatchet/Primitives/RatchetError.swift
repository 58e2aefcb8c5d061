/// Why a message cannot be read or written. Nothing was changed when an error is thrown.
public enum RatchetError: Error, Equatable, CustomStringConvertible, Sendable {
    /// The bytes are no message, key or bundle of the format.
    case malformed(String)
    /// A public key is not in its only form, or of low order.
    case badKey
    /// The signature of the signed prekey does not hold.
    case badSignature
    /// A key exchange names no prekey. Such an exchange could be repeated.
    case withoutPrekey
    /// The message was changed, or is for another session.
    case mac
    /// The key of this message was used, or given up.
    case keyGone
    /// More keys lie between the last message and this message than are kept.
    case tooFar
    /// The chain has reached its last message.
    case exhausted
    /// libcrypto has failed.
    case library(String)

    public var description: String {
        switch self {
        case .malformed(let what): "malformed: \(what)"
        case .badKey: "a public key is not in its canonical form, or of low order"
        case .badSignature: "the signature of the prekey does not hold"
        case .withoutPrekey: "the key exchange uses no prekey"
        case .mac: "the message does not belong to this session, or was changed"
        case .keyGone: "the key of this message was used, or given up"
        case .tooFar: "too many messages are missing before this message"
        case .exhausted: "the chain is at its end"
        case .library(let function): "\(function) of libcrypto has failed"
        }
    }
}
