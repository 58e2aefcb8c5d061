import KalijHandlers
import KalijRatchet
import KalijCore
import KalijStore
import KalijStream
import KalijXML

/// Publishes the keys of this device: passes events to the state, and performs the actions that it returns.
struct KeyPublisher {
    let step: Step
    let dialect: OMEMOVersion
    private var account: Int64 { step.account.id }
    var keys: OwnKeys { OwnKeys(step: step, dialect: dialect) }

    private static let (minute, hour, day): (Int64, Int64, Int64) = (60_000, 3_600_000, 86_400_000)
    /// How often in an hour this device is added to the list again after its removal.
    private static let maxListConflicts = 5

    // MARK: Events

    func handle(_ event: KeyPublicationState.Event) throws {
        guard var row = try KeyPublicationRow.load(account, dialect, from: step.database) else { return }
        try handle(event, &row)
        try row.save(account, dialect, in: step.database)
    }

    private func handle(_ event: KeyPublicationState.Event, _ row: inout KeyPublicationRow) throws {
        for action in row.state.handle(event) { try perform(action, &row) }
    }

    /// A session began at a server with PEP.
    func began() throws {
        try KeyPublicationRow.make(account, dialect, in: step.database)
        try Pacing(step: step).forget(KeyPublishResponse.name, "\(dialect.rawValue)")
        if try keys.rotate() { try handle(.changed) }
        try handle(.began)
        try daily()
    }

    /// A session began at a server without PEP: nothing can be encrypted in it.
    func cannotBegin() throws {
        try KeyPublicationRow.make(account, dialect, in: step.database)
        guard var row = try KeyPublicationRow.load(account, dialect, from: step.database) else { return }
        (row.state.stage, row.problem) = (.refused, KeyPublicationRow.withoutNodes)
        try row.save(account, dialect, in: step.database)
        try EncryptionQueue(step: step).failAll(Reason(.noKeysAtServer))
    }

    /// A prekey was used: the bundle is published again, at most once a minute, but immediately if few prekeys remain.
    func changed() throws {
        guard var row = try KeyPublicationRow.load(account, dialect, from: step.database) else { return }
        row.state.isDue = true
        let (now, last) = (step.steady.now, row.publishedAt ?? 0)
        if try keys.unused() < OwnKeys.minPrekeys || now - last >= Self.minute || last > now {
            try handle(.changed, &row)
        } else if !row.isTimed {
            row.isTimed = true
            try step.schedule(
                BundleRefreshTimer(dialect: dialect.rawValue), after: .milliseconds(last + Self.minute - now))
        }
        try row.save(account, dialect, in: step.database)
    }

    fileprivate func due() throws {
        guard var row = try KeyPublicationRow.load(account, dialect, from: step.database) else { return }
        row.isTimed = false
        if row.state.isDue { try handle(.changed, &row) }
        try row.save(account, dialect, in: step.database)
    }

    private func daily() throws {
        let session = try SessionRow.load(account, from: step.database).number
        try step.schedule(KeyRotationTimer(dialect: dialect.rawValue, session: session), after: .seconds(24 * 3600))
    }

    /// A day of the session has elapsed.
    fileprivate func dayPassed(in session: Int64) throws {
        guard try SessionRow.load(account, from: step.database).number == session else { return }
        if try OwnDevice.load(account, from: step.database)?.isRead ?? false { try keys.forgetUsed() }
        if try keys.rotate() { try handle(.changed) }
        try daily()
    }

    // MARK: The list

    /// Handles the list of the account's devices.
    func received(_ list: DeviceList) throws {
        guard let device = try OwnDevice.id(of: account, in: step.database),
            var row = try KeyPublicationRow.load(account, dialect, from: step.database)
        else { return }
        row.set(list, besides: device)
        try DeviceLists(step: step, dialect: dialect).store(
            step.account.jid, DeviceList(row.others, labels: row.labels), isWatched: true)
        if !list.devices.contains(device), row.state.stage == .ready {
            try removed(&row)
        }
        try row.save(account, dialect, in: step.database)
    }

    private func removed(_ row: inout KeyPublicationRow) throws {
        let now = step.steady.now
        row.fights = row.fights.filter { $0 <= now && now - $0 < Self.hour }
        guard row.fights.count < Self.maxListConflicts else {
            // Further lists without this device are ignored.
            guard row.state.isListed else { return }
            row.state.isListed = false
            step.emit(DeviceListConflict())
            try step.schedule(ListRepublishTimer(dialect: dialect.rawValue), after: .seconds(3600))
            return
        }
        row.fights.append(now)
        try handle(.removed, &row)
    }

    fileprivate func republishList() throws {
        guard let row = try KeyPublicationRow.load(account, dialect, from: step.database), row.state.stage == .ready,
            !row.state.isListed
        else { return }
        try handle(.removed)
    }

    /// Removes another device of the account from the list, and its keys from the server.
    /// - Returns: false if the list does not contain the device, or is not published in this session.
    func remove(_ device: UInt32) throws -> Bool {
        guard var row = try KeyPublicationRow.load(account, dialect, from: step.database), row.state.stage == .ready,
            row.others.contains(device)
        else { return false }
        row.others.removeAll { $0 == device }
        row.labels[device] = nil
        try DeviceLists(step: step, dialect: dialect).store(
            step.account.jid, DeviceList(row.others, labels: row.labels), isWatched: true)
        try handle(.removed, &row)
        try row.save(account, dialect, in: step.database)
        try step.send(
            Nodes.deleteBundle(of: device, dialect), then: DeviceRemovalResponse(), within: EngineLimits.serverTimeout)
        return true
    }

    /// The name of this device has changed. The response to a request in flight comes first.
    func renamed() throws {
        guard var row = try KeyPublicationRow.load(account, dialect, from: step.database) else { return }
        try publishName(&row)
        try row.save(account, dialect, in: step.database)
    }

    private func publishName(_ row: inout KeyPublicationRow) throws {
        guard dialect == .omemo2, row.state.stage == .ready, row.state.isListed,
            let device = try OwnDevice.id(of: account, in: step.database),
            row.labels[device] != (try OwnName(step).label(dialect))
        else { return }
        try handle(.removed, &row)
    }

    // MARK: Responses

    fileprivate func answered(_ reply: IQReply, _ asked: Int64) throws {
        guard var row = try KeyPublicationRow.load(account, dialect, from: step.database), row.requestCount == asked
        else {
            return
        }
        switch reply {
        case .timeout: try handle(.unanswered, &row)
        case .result(let answer):
            try fulfilled(answer, &row)
            try publishName(&row)
        case .error(let error, _): try refused(error, &row)
        }
        try row.save(account, dialect, in: step.database)
    }

    private func fulfilled(_ answer: Element, _ row: inout KeyPublicationRow) throws {
        switch row.state.stage {
        case .requestingList:
            let content = Nodes.content(of: dialect.listNode, in: answer)
            try apply(content.flatMap { DeviceList($0, dialect) } ?? DeviceList([]), &row)
        case .requestingBundle: try handle(.bundle(found(in: answer, &row)), &row)
        default: try handle(.done, &row)
        }
    }

    private func refused(_ error: StanzaError, _ row: inout KeyPublicationRow) throws {
        switch (row.state.stage, error.condition) {
        case (.requestingList, .itemNotFound): try apply(DeviceList([]), &row)
        case (.requestingBundle, .itemNotFound): try handle(.bundle(.nothing), &row)
        case (.adaptingBundle, .itemNotFound): try handle(.nodeMissing, &row)
        case (.publishingBundle, .conflict), (.publishingList, .conflict): try handle(.otherwiseConfigured, &row)
        case (.publishingBundle, _) where error.application == "precondition-not-met",
            (.publishingList, _) where error.application == "precondition-not-met":
            try handle(.otherwiseConfigured, &row)
        case (.publishingBundle, _) where dialect == .omemo2 && error.kind == .wait:
            // ejabberd 23.01 rejects `max_items` in publish-options.
            try handle(.optionsRefused, &row)
        // ejabberd returns this for a node whose creation is in progress.
        case (_, .itemNotFound) where row.state.attempts < KeyPublicationState.maxAttempts:
            try handle(.unanswered, &row)
        default: try handle(.refused("\(error)"), &row)
        }
    }

    /// Handles the list. If this device has no id yet, it receives one that is not in the list.
    private func apply(_ list: DeviceList, _ row: inout KeyPublicationRow) throws {
        let device = try OwnDevice.id(of: account, in: step.database)
        if device == nil {
            try OwnDevice.make(OwnDevice.newID(besides: list.devices), in: step)
            try BackupRestoreGuard(step: step).checkFile()
        }
        row.set(list, besides: device)
        // Only the list of 0.3 is in the announced features.
        try DeviceLists(step: step, dialect: dialect).store(
            step.account.jid, DeviceList(row.others, labels: row.labels), isWatched: dialect == .axolotl)
        let hasThisDevice =
            try device.map { try list.devices.contains($0) && list.labels[$0] == OwnName(step).label(dialect) } ?? false
        try handle(.list(hasThisDevice: hasThisDevice), &row)
    }

    private func found(in answer: Element, _ row: inout KeyPublicationRow) throws -> KeyPublicationState.Found {
        guard let device = try OwnDevice.load(account, from: step.database) else { return .nothing }
        let content = Nodes.content(of: dialect.bundleNode(device.id), in: answer)
        guard let content, let bundle = BundleElement(content, dialect) else { return .nothing }
        guard try bundle.identity == dialect.written(device.identity.publicIdentity) else {
            let isNew = row.foreignAt.map { step.steady.now - $0 > Self.day || $0 > step.steady.now } ?? true
            row.foreignAt = step.steady.now
            return .foreign(overwrite: isNew && row.publishedAt != nil)
        }
        let last = try keys.last()
        let highest = (bundle.prekeys.map(\.id) + [bundle.signedPrekey.id]).max() ?? 0
        guard highest <= last else {
            try keys.skip(through: highest)
            return .newer
        }
        let isSame =
            try bundle.signedPrekey.id == keys.signed()?.id && bundle.prekeys.count >= OwnKeys.minPrekeys
            && !row.state.isDue
        return isSame ? .same : .old
    }

    // MARK: Actions

    private func perform(_ action: KeyPublicationState.Action, _ row: inout KeyPublicationRow) throws {
        let device = try OwnDevice.load(account, from: step.database)
        switch action {
        case .requestList: try sendRequest(Nodes.items(of: dialect.listNode, at: nil), &row)
        case .requestBundle:
            guard let device else { return }
            let id = dialect == .axolotl ? nil : dialect.bundleItem(device.id)
            try sendRequest(Nodes.items(of: dialect.bundleNode(device.id), id: id, at: nil), &row)
        case .publishBundle(let withOptions):
            guard let device else { return }
            // The row has the counter of ids.
            let bundle = try keys.bundle(device.identity).element(dialect)
            row.publishedAt = step.steady.now
            try sendRequest(
                Nodes.publish(
                    bundle, as: dialect.bundleItem(device.id), to: dialect.bundleNode(device.id),
                    isOfMany: dialect == .omemo2, withOptions: withOptions), &row)
        case .configureBundle:
            guard let device else { return }
            try sendRequest(Nodes.configure(dialect.bundleNode(device.id), isOfMany: dialect == .omemo2), &row)
        case .publishList(let withOptions):
            guard let device else { return }
            row.labels[device.id] = try OwnName(step).label(dialect)
            let list = row.list(with: device.id).element(dialect)
            try sendRequest(
                Nodes.publish(list, as: OMEMOVersion.listItem, to: dialect.listNode, withOptions: withOptions), &row)
        case .configureList: try sendRequest(Nodes.configure(dialect.listNode), &row)
        case .newID: try renumber(row)
        case .restored: try BackupRestoreGuard(step: step).found("the bundle on the server is newer")
        case .opened: try opened(&row)
        case .failed(let reason): try failed(reason, &row)
        }
    }

    private func sendRequest(_ request: Element, _ row: inout KeyPublicationRow) throws {
        row.requestCount += 1
        try step.send(
            request, then: KeyPublishResponse(dialect: dialect.rawValue, asked: row.requestCount),
            within: EngineLimits.serverTimeout)
    }

    /// Another device of the account has the id of this device. The id is replaced in all versions.
    private func renumber(_ row: KeyPublicationRow) throws {
        let before = try OwnDevice.id(of: account, in: step.database)
        try OwnDevice.set(id: OwnDevice.newID(besides: row.others), in: step)
        for other in try EnabledVersions(step: step).all where other != dialect {
            guard let before, var row = try KeyPublicationRow.load(account, other, from: step.database) else {
                continue
            }
            row.retired.append(before)
            (row.state.isListed, row.state.isDue) = (false, true)
            try row.save(account, other, in: step.database)
            try KeyPublisher(step: step, dialect: other).handle(.began)
        }
    }

    private func opened(_ row: inout KeyPublicationRow) throws {
        row.problem = nil
        // `EncryptionReadiness` reads the stored row.
        try row.save(account, dialect, in: step.database)
        try DeviceLists(step: step, dialect: dialect).watchOwn()
        try EncryptionReadiness(step: step).keysSettled()
    }

    private func failed(_ reason: String, _ row: inout KeyPublicationRow) throws {
        row.problem = reason
        try row.save(account, dialect, in: step.database)
        let name = dialect == .axolotl ? "" : " in version 2"
        step.emit(KeyPublicationFailed(reason: "the keys of this device are not published\(name): \(reason)"))
        try EncryptionReadiness(step: step).keysSettled()
    }
}

/// Handles a response to a request of the publication.
struct KeyPublishResponse: InvalidatableHandler, PacedHandler {
    static let name = "omemo.own"
    /// A session begins with about ten requests; a server may present another key under each new id of this device.
    static let pace = RequestPace(40, atOnceThen: .seconds(30), upTo: .seconds(3600))
    let dialect: Int
    var paceKey: String { "\(dialect)" }
    /// The number of the request.
    let asked: Int64

    func call(_ reply: IQReply, in step: Step) throws {
        guard let dialect = OMEMOVersion(rawValue: dialect) else { return }
        try KeyPublisher(step: step, dialect: dialect).answered(reply, asked)
    }

    /// The next session starts the publication again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// Publishes the bundle again.
struct BundleRefreshTimer: Handler {
    static let name = "omemo.bundle-due"
    let dialect: Int

    func call(_: Void, in step: Step) throws {
        guard let dialect = OMEMOVersion(rawValue: dialect) else { return }
        try KeyPublisher(step: step, dialect: dialect).due()
        step.flush()
    }
}

/// Checks the age of the signed prekey.
struct KeyRotationTimer: Handler {
    static let name = "omemo.daily"
    let dialect: Int
    /// The number of the session.
    let session: Int64

    func call(_: Void, in step: Step) throws {
        guard let dialect = OMEMOVersion(rawValue: dialect) else { return }
        try KeyPublisher(step: step, dialect: dialect).dayPassed(in: session)
        step.flush()
    }
}

extension PendingReader.Pending {
    /// Whether this is a timer that every session has, and that is of no interest to people.
    public var isUpkeep: Bool { origin == .timer && handler == KeyRotationTimer.name }
}

/// Adds this device to the list again, after others have removed it repeatedly.
struct ListRepublishTimer: Handler {
    static let name = "omemo.list-again"
    let dialect: Int

    func call(_: Void, in step: Step) throws {
        guard let dialect = OMEMOVersion(rawValue: dialect) else { return }
        try KeyPublisher(step: step, dialect: dialect).republishList()
        step.flush()
    }
}
