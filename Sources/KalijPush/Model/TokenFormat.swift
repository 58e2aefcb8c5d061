import KalijWebPush

/// The form of a provider's tokens; other tokens are malformed.
public enum TokenFormat: Sendable, Equatable {
    /// Apple: hexadecimal, so a token cannot be another path.
    case hexadecimal
    /// Google, and for trying out: printable ASCII, as in every publish's node.
    case printable
    /// A push service's endpoint with the device's keys (`PushSubscription`).
    case subscription

    /// The one form of a token: a device must not have several names here. Nil for what is no token.
    func form(of token: String) -> String? {
        switch self {
        case .printable: token
        case .subscription: try? PushSubscription(token).text
        case .hexadecimal: isHexadecimal(token) ? token.lowercased() : nil
        }
    }

    /// What names the device: the endpoint without the keys, because other keys with the same endpoint reach the same device.
    func subject(of token: String) -> Substring {
        guard self == .subscription, let hash = token.utf8.firstIndex(of: UInt8(ascii: "#")) else { return token[...] }
        return token[..<hash]
    }

    private func isHexadecimal(_ token: String) -> Bool {
        token.utf8.count >= 16 && token.utf8.count <= 200 && token.utf8.count % 2 == 0
            && token.utf8.allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 | 0x20
            }
    }
}

extension ModuleSettings {
    var tokenFormat: TokenFormat {
        switch provider {
        case .apns: .hexadecimal
        case .webPush: .subscription
        case .fcm, .log: .printable
        }
    }
}
