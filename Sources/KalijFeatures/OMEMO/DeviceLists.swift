import KalijAddress
import KalijHandlers
import KalijRatchet
import KalijCore
import KalijStore
import KalijStream
import KalijXML

/// The lists of devices in one version of OMEMO.
struct DeviceLists {
    let step: Step
    let dialect: OMEMOVersion
    private var database: Database { step.database }

    /// In milliseconds: how long a list without notifications of changes remains valid; and how soon an unavailable list is requested
    /// again.
    private static let (validity, pause): (Int64, Int64) = (600_000, 300_000)
    /// The timeout for a response of another account's server.
    private static let timeout = Duration.seconds(60)
    /// The maximum number of addresses outside the roster whose lists are stored because of unsolicited notifications.
    private static let maxUnsolicited: Int64 = 5000

    /// The number of the present session.
    private var session: Int64 { get throws { try SessionRow.load(step.account.id, from: database).number } }

    func list(of jid: JID) throws -> PeerList? {
        try database.statement(
            """
            SELECT id, jid, session, told_at, watched, asked, problem, stranger FROM omemo_list
            WHERE account = ? AND jid = ? AND dialect = ?
            """
        ).first([.integer(step.account.id), .text(jid.bare.description), .integer(Int64(dialect.rawValue))]) {
            PeerList(
                id: $0.integer("id"), jid: .received($0.text("jid")), session: $0.integer("session"),
                receivedAt: $0.integer("told_at"), watched: $0.integer("watched"), isRequested: $0.bool("asked"),
                problem: $0.optionalText("problem"), isStranger: $0.bool("stranger"))
        }
    }

    /// Why the list of `jid` is unavailable in any version; nil if it is not.
    static func problem(of jid: JID, _ account: Int64, in database: Database) throws -> String? {
        try database.statement(
            "SELECT problem FROM omemo_list WHERE account = ? AND jid = ? AND problem IS NOT NULL LIMIT 1"
        ).first([.integer(account), .text(jid.bare.description)]) { $0.text() }
    }

    /// Whether `jid` has no keys: in this session, the lists of all enabled versions were received, and have no device.
    static func isKeyless(_ jid: JID, _ account: Account, in database: Database) throws -> Bool {
        let session = try SessionRow.load(account.id, from: database).number
        let versions = try EnabledVersions(database: database, account: account.id).all
        return try versions.allSatisfy { version in
            try database.statement(
                """
                SELECT 1 FROM omemo_list l
                WHERE account = ? AND jid = ? AND dialect = ? AND session = ? AND told_at > 0 AND problem IS NULL
                    AND NOT EXISTS (SELECT 1 FROM omemo_peer WHERE list = l.id AND listed = 1)
                """
            ).first([
                .integer(account.id), .text(jid.bare.description), .integer(Int64(version.rawValue)), .integer(session),
            ]) { _ in true } ?? false
        }
    }

    /// The list of `jid`, created if there is none.
    func make(_ jid: JID) throws -> PeerList {
        try database.run(
            """
            INSERT OR IGNORE INTO omemo_list(account, jid, dialect, session, told_at, watched, asked, stranger)
            VALUES (?, ?, ?, 0, 0, 0, 0, ?)
            """,
            [
                .integer(step.account.id), .text(jid.bare.description), .integer(Int64(dialect.rawValue)),
                .integer(try isKnown(jid) ? 0 : 1),
            ])
        guard let list = try list(of: jid) else { throw StoreError(.corrupt, "a list of devices is not stored") }
        return list
    }

    /// Whether the address belongs to a contact, to somebody whom the user has written to, or to the account itself.
    func isKnown(_ jid: JID) throws -> Bool {
        if jid.bare == step.account.jid { return true }
        if try RosterRows(database: database, account: step.account.id).contact(jid) != nil { return true }
        return try MessageReader(database: database, account: step.account.id).hasWritten(to: jid.bare.description)
    }

    // MARK: Received

    /// Stores a received list.
    /// - Parameter isWatched: whether changes will be received, too.
    func store(_ jid: JID, _ told: DeviceList, isWatched: Bool) throws {
        let list = try make(jid)
        try database.run(
            """
            UPDATE omemo_list SET session = ?2, told_at = ?3, watched = CASE WHEN ?4 THEN ?2 ELSE watched END, asked = 0,
                problem = NULL
            WHERE id = ?1
            """,
            [.integer(list.id), .integer(try session), .integer(step.steady.now), .integer(isWatched ? 1 : 0)])
        try set(told.devices, of: list)
        if dialect == .omemo2 { try PeerLabels(database: database).set(told.labels, of: list) }
        try EncryptionQueue(step: step).retryAll()
    }

    /// Devices with sessions have precedence if there are too many.
    private func set(_ devices: [UInt32], of list: PeerList) throws {
        let known = try PeerDevices(step: step).all(of: list)
        let inUse = Set(known.filter(\.hasSession).map(\.device))
        let most = list.jid == step.account.jid ? DeviceList.maxOwnDevices : DeviceList.maxDevices
        let kept = (devices.filter(inUse.contains) + devices.filter { !inUse.contains($0) }).prefix(most)
        let wanted = Set(kept)
        for device in known where device.isListed != wanted.contains(device.device) || !device.hasSession {
            let isListed = wanted.contains(device.device)
            if !isListed, !device.hasSession {
                try PeerDevices(step: step).remove(device)
            } else if isListed != device.isListed {
                try PeerDevices(step: step).set(isListed: isListed, of: device)
            }
        }
        let names = Set(known.map(\.device))
        for device in kept where !names.contains(device) {
            try PeerDevices(step: step).make(device, in: list, isListed: true)
        }
    }

    /// Handles a notification of a node. Lists of strangers are not stored unless they were requested before.
    func event(_ change: NodeEvent.Change, by jid: JID) throws {
        guard try list(of: jid) != nil || isKnown(jid) else { return }
        switch change {
        case .content(let content): try store(jid, DeviceList(content, dialect) ?? DeviceList([]), isWatched: true)
        case .emptied: try store(jid, DeviceList([]), isWatched: true)
        case .retracted(let id): if id == OMEMOVersion.listItem { try store(jid, DeviceList([]), isWatched: true) }
        }
    }

    // MARK: Requested

    /// Whether the list was received within the period of validity.
    func isFresh(_ list: PeerList) throws -> Bool {
        let age = step.steady.now - list.receivedAt
        return try list.session == session && age >= 0 && age < Self.validity
    }

    /// Whether the list is of this session, and still valid.
    func isCurrent(_ list: PeerList) throws -> Bool {
        let session = try session
        guard list.session == session else { return false }
        let age = step.steady.now - list.receivedAt
        if list.problem != nil { return age >= 0 && age < Self.pause }
        return list.watched == session || age >= 0 && age < Self.validity
    }

    /// Requests the list, and subscribes to its changes unless the contact's presence implies that (XEP-0163 section 4).
    func request(_ list: PeerList) throws {
        try database.run("UPDATE omemo_list SET asked = 1 WHERE id = ?", [.integer(list.id)])
        let contact = try RosterRows(database: database, account: step.account.id).contact(list.jid)
        // Only the list of 0.3 is among the announced features: most accounts do not use 2, and its notifications would use bandwidth.
        let hasEvents = list.jid == step.account.jid || dialect == .axolotl && contact?.subscription.isTo ?? false
        if !hasEvents { try watch(list) }
        try step.send(
            Nodes.items(of: dialect.listNode, at: list.jid),
            then: DeviceListResponse(jid: list.jid.description, dialect: dialect.rawValue, watched: hasEvents),
            within: Self.timeout)
    }

    /// Requests the lists of `people` that are not current: a person sees whether they have keys before the first text.
    static func request(_ people: [JID], in step: Step) throws {
        for version in try EnabledVersions(step: step).all {
            let lists = DeviceLists(step: step, dialect: version)
            for jid in people {
                let list = try lists.make(jid)
                if try !list.isRequested && !lists.isCurrent(list) { try lists.request(list) }
            }
        }
    }

    private func watch(_ list: PeerList) throws {
        guard try list.watched != session else { return }
        try step.send(
            Nodes.subscribe(to: dialect.listNode, at: list.jid, step.account.jid),
            then: DeviceListSubscribeResponse(list: list.id, session: session), within: Self.timeout)
    }

    /// Subscribes to changes of the account's own list, unless this session is subscribed already.
    func watchOwn() throws { try watch(make(step.account.jid)) }

    /// Records that the list is unavailable. A list that does not exist is an empty list.
    fileprivate func failed(_ jid: JID, _ reply: IQReply) throws {
        var problem = "the server of \(jid) does not answer"
        if case .error(let error, _) = reply {
            guard error.isUnreachable || error.kind == .wait else {
                return try store(jid, DeviceList([]), isWatched: false)
            }
            problem = "\(error)"
        }
        try database.run(
            """
            UPDATE omemo_list SET asked = 0, problem = ?, session = ?, told_at = ?
            WHERE account = ? AND jid = ? AND dialect = ?
            """,
            [
                .text(problem), .integer(try session), .integer(step.steady.now), .integer(step.account.id),
                .text(jid.description), .integer(Int64(dialect.rawValue)),
            ])
        try EncryptionQueue(step: step).retryAll()
    }

    /// The session is lost: pending requests will not be answered.
    static func sessionLost(in step: Step) throws {
        for name in [DeviceListResponse.name, DeviceListSubscribeResponse.name, BundleResponse.name] {
            try Requests(step: step).forget(name, unqueueing: true)
        }
        try step.database.run(
            "UPDATE omemo_list SET asked = 0 WHERE account = ? AND asked = 1", [.integer(step.account.id)])
        try PeerDevices(step: step).forgetQuestions()
        try SessionRepair(step: step).sessionLost()
    }

    fileprivate func answered(_ reply: IQReply, of jid: JID, isWatched: Bool) throws {
        if case .result(let answer) = reply {
            let content = Nodes.content(of: dialect.listNode, in: answer)
            try store(jid, content.flatMap { DeviceList($0, dialect) } ?? DeviceList([]), isWatched: isWatched)
        } else {
            try failed(jid, reply)
        }
        if let list = try list(of: jid) { try SessionRepair(step: step).didReceiveList(list) }
    }
}

/// Handles the response to a request for a list of devices.
struct DeviceListResponse: InvalidatableHandler, PacedHandler {
    static let name = "omemo.list"
    static let pace = RequestPace(60, atOnceThen: .seconds(30), upTo: .seconds(3600))
    var paceKey: String { "\(dialect) \(jid)" }
    let jid: String
    let dialect: Int
    /// Whether changes will be received, too.
    let watched: Bool

    func call(_ reply: IQReply, in step: Step) throws {
        guard let dialect = OMEMOVersion(rawValue: dialect) else { return }
        try DeviceLists(step: step, dialect: dialect).answered(
            reply, of: .received(jid), isWatched: watched)
    }

    /// The next session requests the list again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}

/// Handles the response to a subscription to changes of a list.
struct DeviceListSubscribeResponse: InvalidatableHandler {
    static let name = "omemo.watched"
    let list: Int64
    /// The number of the session.
    let session: Int64

    func call(_ reply: IQReply, in step: Step) throws {
        guard case .result = reply else { return }
        try step.database.run("UPDATE omemo_list SET watched = ? WHERE id = ?", [.integer(session), .integer(list)])
    }

    /// The next session subscribes again.
    func invalidate(_ reason: Invalidation, in step: Step) throws {}
}
