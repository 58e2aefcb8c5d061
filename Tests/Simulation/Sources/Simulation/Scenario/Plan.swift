/// The actions of a simulation: made from a seed, and made fewer after a failure.
struct Plan {
    let seed: UInt64
    let profile: Profile
    /// How long a piece of bytes takes, in microseconds.
    let latency: ClosedRange<Int64>
    /// Whether `main` writes down notifications, too.
    let mainNotifies: Bool
    /// How many of a hundred attempts to show a notification fail.
    let failingOutputs: Int
    var actions: [Action]
    /// Whether messages are changed.
    var hasChanges = false
    /// Whether there is a room.
    var hasGarden = false
    /// Whether there is an encrypted conversation: from this seed on.
    var hasEncryption: Bool { seed >= Self.firstEncrypted }
    static let firstEncrypted: UInt64 = 1_000_000_000

    struct Action {
        /// Microseconds since the beginning.
        let time: Int64
        let kind: Kind
    }

    enum Kind {
        /// A contact sends a message.
        case incoming(Int, contact: Int)
        /// Another resource of the account sends a message.
        case elsewhere(Int)
        /// A message comes for another resource alone.
        case hidden(Int)
        /// The user has a message accepted; with `operations` in a process of its own that dies after so many operations.
        case accept(Int, contact: Int, operations: Int?)
        /// The application asks a contact, and waits so many seconds. The contact answers after so many milliseconds, or never.
        case ask(Int, answer: Int?, patience: Int)
        /// The application has a timer set.
        case timer(Int, seconds: Int)
        /// A process is killed after so many operations on the disk or turns of its loop.
        case kill(operations: Int?, turns: Int)
        /// A process is killed when about to show a notification.
        case killShowing
        /// A process is told to end, and another process starts.
        case replace
        /// A process is frozen for so many milliseconds, now or within a call after so many operations on the disk. A push may
        /// come soon afterwards.
        case freeze(milliseconds: Int, operations: Int?, isPushed: Bool)
        /// The same in the middle of a transaction in the mailbox: the process receives the letter of a push; or the process
        /// hands a push over, and then the driver is killed.
        case freezeInMailbox(milliseconds: Int, operations: Int)
        /// The system starts a process to fetch new messages.
        case push
        /// The system starts a process to send queued messages.
        case flush
        /// The user's own process is told to end, or dies, and does not come back for so many milliseconds.
        case leave(milliseconds: Int, inOrder: Bool)
        /// Another device tells that the newest message of a contact was displayed.
        case read(contact: Int)
        case cut(silently: Bool)
        case powerFailure(operations: Int?)
        /// So many operations of some kinds fail, after so many others.
        case ioErrors(mask: Int, after: Int, count: Int, isFull: Bool)
        case restartServer(milliseconds: Int)
        /// The server asks without end, and reads nothing for so many milliseconds.
        case askWithoutReading(milliseconds: Int)
        /// A process is killed after so many operations on the disk or turns of its loop, and its session expires before the next
        /// process starts.
        case expire(operations: Int?, turns: Int)
        /// The archive forgets so many percent of its messages, of the messages that the client has.
        case expireArchive(percent: Int)
        /// The archive forgets all messages, read or not.
        case purgeArchive
        /// The user, or somebody else, changes a message.
        case change(Change)
        /// The user, or another device of the account, reads a conversation.
        case reading(Reading)
        /// The user changes the account; the user's process dies after so many operations on the disk.
        case account(AccountChange, operations: Int?)
        /// The client reads the archive of a room, in which everything is forged.
        case readRoom
        /// Something happens in a room.
        case garden(GardenAction)
        /// The user shares a file.
        case file(FileAction)
        /// Something happens in the encrypted conversation.
        case encrypted(EncryptedAction)
        /// Something happens to a feature.
        case feature(any SimulatedAction)
    }
}

extension Plan.Kind {
    fileprivate var needsArchive: Bool {
        switch self {
        case .elsewhere, .hidden, .expireArchive, .purgeArchive: true
        case .change(let change): change.author == .phone
        case .reading(let reading): reading.isElsewhere
        default: false
        }
    }

    var isStanza: Bool {
        switch self {
        case .incoming, .elsewhere, .hidden, .accept, .ask: true
        default: false
        }
    }

    var isFault: Bool {
        switch self {
        case .kill, .killShowing, .replace, .freeze, .freezeInMailbox, .leave, .cut, .powerFailure, .ioErrors,
            .restartServer, .expire, .expireArchive, .purgeArchive:
            true
        case .accept(_, _, let operations): operations != nil
        case .encrypted(.putBack): true
        default: false
        }
    }
}

extension Plan {
    /// A plan with at least 50 stanzas and 3 faults.
    init(seed: UInt64, profile: Profile? = nil) {
        var random = Seeded(seed &* 0x2545_F491_4F6C_DD1D &+ 1)
        self.seed = seed
        let profiles = Profile.all
        let server = profiles[Int(seed % UInt64(profiles.count))]
        let hasArchive = random.chance(85)
        // Drawn from a generator of its own, so that the rest of a plan stays the same.
        var archiving = Seeded(seed &* 0x9E6C_63D0_876A_68DE &+ 3)
        var drawn = profile ?? (hasArchive ? Self.archived(server, &archiving) : server.withoutArchive)
        drawn.tellsTime = seed % 8 != 7
        drawn.hasNodes = seed / 4 % 5 != 4
        if profile == nil { drawn.login = LoginProfile(seed: seed) }
        self.profile = drawn
        latency = random.pick(weighted: [
            (5, 200...2000), (3, 1000...40_000), (1, 20_000...300_000),
        ])
        mainNotifies = random.chance(60)
        // No number is drawn here, so that other plans stay the same.
        failingOutputs = [0, 0, 0, 5, 20, 60][Int(seed / 4 % 6)]
        let length = Int64(random.pick(10...40)) * 1_000_000
        var actions: [Action] = []
        for number in 0..<random.pick(60...80) {
            var kind = Self.traffic(number, &random)
            // Without an archive nobody can find messages for other resources.
            if !self.profile.keepsAny, kind.needsArchive { kind = .incoming(number, contact: 0) }
            actions.append(Action(time: random.pick(0...length), kind: kind))
        }
        for _ in 0..<random.pick(0...5) {
            actions.append(Action(time: random.pick(0...length), kind: Self.others(&random)))
        }
        for number in 0..<random.pick(4...10) {
            var kind = Self.fault(&random)
            // Without an archive nothing can expire.
            if !self.profile.keepsAny, kind.needsArchive { kind = .cut(silently: false) }
            let time = random.pick(0...length)
            actions.append(Action(time: time, kind: kind))
            // Traffic comes in bursts, and faults are worst in the middle of a burst.
            for extra in 0..<random.pick(0...4) {
                let near = max(0, time + random.pick(-30_000...30_000))
                let message = 1000 + number * 10 + extra
                actions.append(
                    Action(
                        time: near,
                        kind: random.chance(50)
                            ? .incoming(message, contact: random.pick(0...2))
                            : .accept(message, contact: random.pick(0...1), operations: nil)))
            }
        }
        if self.profile.keepsAny, archiving.chance(15) {
            actions.append(Action(time: archiving.pick(0...length), kind: .purgeArchive))
        }
        if archiving.chance(30) { actions.append(Action(time: archiving.pick(0...length), kind: .readRoom)) }
        let changes = Change.all(seed: seed, beside: actions, length: length)
            .filter { drawn.keepsAny || !$0.kind.needsArchive }
        hasChanges = !changes.isEmpty
        let readings = Reading.all(seed: seed, beside: actions, length: length)
        actions += changes
        let others = AccountChange.all(seed: seed, beside: actions, length: length)
        actions += others
        actions += readings.filter { drawn.keepsAny || !$0.kind.needsArchive }
        let garden = GardenAction.all(seed: seed, beside: actions, length: length)
        hasGarden = !garden.isEmpty
        actions += garden
        actions += FileAction.all(seed: seed, beside: actions, length: length)
        for feature in SimulatedFeatures.all { actions += feature.actions(seed: seed, beside: actions, length: length) }
        // Drawn from a generator of its own, so that the rest of a plan stays the same.
        var asking = Seeded(seed &* 0x9E6C_63D0_876A_68DE &+ 23)
        if asking.chance(25) {
            let kind = Kind.askWithoutReading(milliseconds: asking.pick(300...4000))
            actions.append(Action(time: asking.pick(0...length), kind: kind))
        }
        if seed >= Self.firstEncrypted {
            actions = EncryptedAction.all(seed: seed, beside: actions, length: length)
            (hasChanges, hasGarden) = (false, false)
        }
        self.actions = actions.enumerated().sorted { ($0.1.time, $0.0) < ($1.1.time, $1.0) }.map(\.1)
    }

    private static func archived(_ server: Profile, _ random: inout Seeded) -> Profile {
        server.archiving(
            random.pick(weighted: [(7, .always), (2, .roster), (1, .never)]), hasPreferences: random.chance(80))
    }

    private static func traffic(_ number: Int, _ random: inout Seeded) -> Kind {
        switch random.pick(0...99) {
        case 0..<45: .incoming(number, contact: random.pick(0...2))
        case 45..<50: .elsewhere(number)
        case 50..<54: .hidden(number)
        case 54..<88:
            .accept(
                number, contact: random.pick(weighted: [(9, 0), (9, 1), (1, 3)]),
                operations: random.chance(6) ? random.pick(1...40) : nil)
        case 88..<96:
            .ask(number, answer: random.chance(75) ? random.pick(0...8000) : nil, patience: random.pick(2...60))
        default: .timer(number, seconds: random.pick(0...30))
        }
    }

    /// Actions of others than the user's own process.
    private static func others(_ random: inout Seeded) -> Kind {
        switch random.pick(0...99) {
        case 0..<45: .push
        case 45..<60: .flush
        default: .read(contact: random.pick(0...2))
        }
    }

    /// Every fourth freeze within a call is a freeze in the mailbox. No number is drawn here, so that other plans stay the same.
    private static func freeze(milliseconds: Int, operations: Int?, isPushed: Bool) -> Kind {
        guard let operations, milliseconds % 4 == 0 else {
            return .freeze(milliseconds: milliseconds, operations: operations, isPushed: isPushed)
        }
        return .freezeInMailbox(milliseconds: milliseconds, operations: 1 + operations % 8)
    }

    private static func fault(_ random: inout Seeded) -> Kind {
        switch random.pick(0...99) {
        case 0..<33:
            .kill(operations: random.chance(60) ? random.pick(1...60) : nil, turns: random.pick(0...12))
        case 33..<36: .killShowing
        case 36..<39: .replace
        case 39..<44: .leave(milliseconds: random.pick(500...15_000), inOrder: random.chance(50))
        case 44..<53:
            freeze(
                milliseconds: random.pick(100...40_000), operations: random.chance(60) ? random.pick(1...60) : nil,
                isPushed: random.chance(70))
        case 53..<62: .cut(silently: random.chance(30))
        case 62..<75: .powerFailure(operations: random.chance(60) ? random.pick(1...60) : nil)
        case 75..<85:
            .ioErrors(
                mask: random.pick(weighted: [(4, 2 | 4 | 8), (2, 1), (2, 4), (2, 2), (1, 127)]),
                after: random.pick(0...20), count: random.pick(1...30), isFull: random.chance(50))
        case 85..<91: .restartServer(milliseconds: random.pick(100...3000))
        case 91..<98: .expire(operations: random.chance(70) ? random.pick(1...30) : nil, turns: random.pick(0...12))
        default: .expireArchive(percent: random.pick(10...100))
        }
    }
}
