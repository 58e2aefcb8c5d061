import KalijAddress
import KalijCore
import KalijStore

/// A message to an encrypted conversation, and one behind it, is retained until it can be encrypted.
extension OMEMOFeature: MessageRetainer {
    static func reason(toRetain message: Message, of account: Account, in database: Database) throws -> WaitReason? {
        guard let conversation = try EncryptionQueue.conversation(of: message.id, in: database) else { return nil }
        let encryption = ConversationEncryption(database: database, account: account.id)
        if try encryption.isBlocked(conversation) { return .decision }
        guard let own = try OwnDevice.load(account.id, from: database) else { return .keys(nil) }
        guard own.isRead else { return .archive }
        guard own.isOpen else {
            return .keys(try KeyPublicationRow.load(account.id, .axolotl, from: database)?.problem)
        }
        let room = try RoomRows(database: database, account: account.id).room(.received(conversation))
        if let room, !room.hasLists { return .members }
        guard try encryption.isLookingUp(conversation) else { return .keys(nil) }
        return .keys(try DeviceLists.problem(of: .received(conversation), account.id, in: database))
    }
}
