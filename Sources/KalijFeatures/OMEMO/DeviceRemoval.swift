import KalijHandlers
import KalijRatchet
import KalijCore
import KalijStore

/// Removes this device when the account is logged out: no message is to be encrypted for it any more.
struct DeviceRemoval {
    let step: Step

    /// Removes this device from the list, and its keys from the server.
    /// - Returns: the handlers whose responses are pending.
    func leave() throws -> [String] {
        var isAny = false
        for dialect in OMEMOVersion.allCases {
            if try leave(dialect) { isAny = true }
        }
        return isAny ? [DeviceRemovalResponse.name] : []
    }

    /// - Returns: false if nothing was published.
    func leave(_ dialect: OMEMOVersion) throws -> Bool {
        guard let row = try KeyPublicationRow.load(step.account.id, dialect, from: step.database),
            row.publishedAt != nil,
            let device = try OwnDevice.id(of: step.account.id, in: step.database)
        else { return false }
        try KeyPublisher(step: step, dialect: dialect).handle(.sessionLost)
        let requests = [
            Nodes.publish(
                row.list().element(dialect), as: OMEMOVersion.listItem, to: dialect.listNode, withOptions: false),
            Nodes.deleteBundle(of: device, dialect),
        ]
        for request in requests {
            try step.send(request, then: DeviceRemovalResponse(), within: EngineLimits.serverTimeout)
        }
        return true
    }

    /// The next login creates another device. The user's decisions on other devices' keys are kept.
    func forget() throws {
        let account: [Value] = [.integer(step.account.id)]
        try step.database.run("DELETE FROM omemo_device WHERE account = ?", account)
        try step.database.run("DELETE FROM omemo_own WHERE account = ?", account)
        try step.database.run("DELETE FROM omemo_prekey WHERE account = ?", account)
        try step.database.run("DELETE FROM omemo_signed WHERE account = ?", account)
        try step.database.run("DELETE FROM omemo_list WHERE account = ?", account)
        try step.database.run("DELETE FROM omemo_aside WHERE account = ?", account)
    }
}

/// Handles the response to the removal of this device.
struct DeviceRemovalResponse: InvalidatableHandler {
    static let name = "omemo.left"

    func call(_ reply: IQReply, in step: Step) throws {}
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}
