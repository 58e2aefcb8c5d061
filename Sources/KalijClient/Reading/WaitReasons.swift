import KalijCoordination
import KalijCore
import KalijFeatures
import KalijStore

/// Determines what the queued messages of an account wait for, by a few rows for each.
struct WaitReasons {
    let account: Account
    let database: Database
    /// The state of the connection; nil if it is unknown.
    let state: AccountState?

    func added(to messages: [Message]) throws -> [Message] {
        guard messages.contains(where: \.isQueued) else { return messages }
        let directory = AccountDirectory(FileFolders(beside: database).directory)
        let isDriven = try account.state == .active && Fence.current(in: database, lockPath: directory.lockPath) != nil
        let isHeld = try OutboundQueue(database: database, account: account.id).holding() != .none
        var messages = messages
        for (place, message) in messages.enumerated() where message.isQueued {
            let isInMailbox = message.id < 0
            let feature = try isInMailbox || !isDriven ? nil : retained(message)
            // The queue holds no message to a room.
            let isHeld = isHeld && message.type != "groupchat"
            let reason = WaitReason(isInMailbox: isInMailbox, isDriven: isDriven, isHeld: isHeld, feature: feature)
            messages[place].waitsFor = reason.over(state)
        }
        return messages
    }

    private func retained(_ message: Message) throws -> WaitReason? {
        for feature in Features.passive.hooks.messageRetainers {
            if let reason = try feature.reason(toRetain: message, of: account, in: database) { return reason }
        }
        return nil
    }
}

extension Message {
    fileprivate var isQueued: Bool { direction == .outgoing && state == .queued && isSettled }
}
