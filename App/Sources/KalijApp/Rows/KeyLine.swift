import KalijAddress
import KalijClient

/// New devices of a person, at the place of a conversation where their keys were met.
public struct KeyLine: Sendable, Equatable {
    /// Whose devices these are.
    public let jid: String
    public let name: String
    /// Whether the devices are the user's own.
    public let isOwn: Bool
    public let state: DeviceState
    /// When the first of the keys was met, in milliseconds since 1970.
    public let at: Int64
    public var count = 1

    public init(jid: String, name: String, isOwn: Bool, state: DeviceState, at: Int64) {
        (self.jid, self.name, self.isOwn, self.state, self.at) = (jid, name, isOwn, state, at)
    }

    public var words: String {
        Words.line(isOwn ? Words.newOwnDevices(count) : Words.newDevices(count, of: name), state)
    }

    /// Whether both are the same key, possibly in different states.
    public func isSame(as other: KeyLine) -> Bool { jid == other.jid && at == other.at }
}

extension Page {
    /// Sets the encryption of the conversation: marks messages that were not encrypted, and adds a line for each new device.
    /// - Parameter names: the names of people by their addresses.
    mutating func show(_ keys: ConversationKeys, of account: String, _ name: (JID) throws -> String) rethrows {
        (isEncrypted, isKeyless) = (keys.isEncrypted, keys.isKeyless)
        guard isEncrypted else { return }
        for place in messages.indices { messages[place].markPlain() }
        lines = try keys.keys.compactMap { key in
            guard key.device != nil, let at = key.firstSeenAt, place(ofLineAt: at) != nil else { return nil }
            let isOwn = key.jid.description == account
            return KeyLine(
                jid: key.jid.description, name: try isOwn ? "" : name(key.jid), isOwn: isOwn,
                state: DeviceState(key.trust), at: at)
        }.sorted { ($0.at, $0.jid) < ($1.at, $1.jid) }
    }

    /// The index of the message that follows; after the last index, for the end. Nil in an earlier or a later part of the conversation.
    private func place(ofLineAt at: Int64) -> Int? {
        let place = messages.firstIndex { $0.at >= at } ?? messages.count
        let isHere = place == messages.count ? !hasNewer : place > 0 || !hasOlder
        return isHere ? place : nil
    }

    /// The lines by the index of the message that follows. Lines of the same person and state are one.
    var placedLines: [Int: [KeyLine]] {
        lines.reduce(into: [:]) { placed, line in
            guard let place = place(ofLineAt: line.at) else { return }
            let same = placed[place]?.lastIndex { $0.jid == line.jid && $0.state == line.state }
            if let same { placed[place]?[same].count += 1 } else { placed[place, default: []].append(line) }
        }
    }
}
