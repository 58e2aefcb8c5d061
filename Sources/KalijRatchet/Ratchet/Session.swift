import COpenSSL

/// A session with a device: the Double Ratchet as a value.
///
/// A session changes only by taking over a returned value: a store of sessions writes the value and what the
/// value made, in one transaction, or nothing.
public struct Session: Sendable {
    /// What names the agreement, on both sides.
    public struct Exchange: Hashable, Sendable {
        public let prekeyID: UInt32
        public let signedPrekeyID: UInt32
        public let ephemeral: PublicKey
    }

    /// The key of a message that was not received.
    public struct SkippedKey: Sendable {
        public let name: Name
        /// 32 bytes.
        public let messageKey: Secret

        /// Which message a key is for.
        public struct Name: Hashable, Sendable {
            public let key: PublicKey
            public let number: UInt32

            public init(key: PublicKey, number: UInt32) { (self.key, self.number) = (key, number) }
        }
    }

    public let dialect: OMEMOVersion
    /// Whether the session was begun here.
    public let isInitiator: Bool
    public let ours: PublicIdentity
    public let theirs: PublicIdentity
    public let exchange: Exchange
    /// Whether the other side has proven to have the session. Until then each message carries the key exchange.
    public internal(set) var isAnswered: Bool

    var root: Secret
    /// The own ratchet key.
    var pair: KeyPair
    /// The other side's ratchet key.
    var remote: PublicKey?
    /// Nil between a new ratchet key of the other side and the next sending: this side's next ratchet key is drawn only then.
    var sending: Chain?
    var receiving: Chain?
    /// How many messages the sending chain before had.
    var previous: UInt32

    /// How many messages of the present receiving chain were read or skipped. A device that receives much without sending has to
    /// send an empty message in time, which this count decides.
    public var received: UInt32 { receiving?.number ?? 0 }
    /// How many messages the present sending chain has.
    public var sent: UInt32 { sending?.number ?? 0 }

    /// Whether anything was sent in this session.
    public var hasSent: Bool { sending != nil || previous > 0 }

    // MARK: Beginning

    /// Begins a session with the device of `bundle`.
    /// - Throws: `RatchetError.badKey` if a key of the bundle is of low order.
    package static func begin(
        _ identity: Identity, _ bundle: Bundle, _ dialect: OMEMOVersion, _ random: Randomness = .system
    ) throws -> Session {
        defer { kalij_overwrite_stack() }
        let ephemeral = try KeyPair.make(random)
        var session = Session(
            dialect: dialect, isInitiator: true, ours: identity.publicIdentity, theirs: bundle.identity,
            exchange: Exchange(
                prekeyID: bundle.prekeyID, signedPrekeyID: bundle.signedPrekeyID, ephemeral: ephemeral.key),
            isAnswered: false,
            root: try Agreement.initiate(identity, ephemeral: ephemeral.secret, bundle, dialect),
            pair: try KeyPair.make(random), remote: bundle.signedPrekey, sending: nil, receiving: nil, previous: 0)
        session.sending = try session.turn(session.pair.secret, bundle.signedPrekey)
        return session
    }

    public static func begin(_ identity: Identity, _ bundle: Bundle, _ dialect: OMEMOVersion) throws -> Session {
        try begin(identity, bundle, dialect, .system)
    }

    /// The other side's session, before its first message was read.
    /// - Parameters:
    ///   - signedPrekey: the own pair that the exchange names.
    ///   - prekey: the own secret that the exchange names. Afterwards nobody may use the prekey again.
    /// - Throws: `RatchetError.badKey` if a key of the exchange is of low order.
    public static func accept(
        _ exchange: KeyExchange, _ identity: Identity, signedPrekey: KeyPair, prekey: Secret, _ dialect: OMEMOVersion
    ) throws -> Session {
        defer { kalij_overwrite_stack() }
        return try Session(
            responding: dialect, ours: identity.publicIdentity, theirs: exchange.identity,
            exchange: Exchange(
                prekeyID: exchange.prekeyID, signedPrekeyID: exchange.signedPrekeyID, ephemeral: exchange.ephemeral),
            root: Agreement.respond(
                identity, signedPrekey: signedPrekey.secret, prekey: prekey, exchange, dialect),
            pair: signedPrekey)
    }

    /// Whether `exchange` is this session's own: then its message is a message of this session.
    public func isOf(_ other: KeyExchange) -> Bool {
        !isInitiator && theirs.key == other.identity.key && exchange.ephemeral == other.ephemeral
    }

    /// A step of the root chain.
    private mutating func turn(_ secret: Secret, _ key: PublicKey) throws -> Chain {
        let (root, chain) = try Chain.begin(root: root, agreed: Curve.agree(secret, key), dialect)
        self.root = root
        return chain
    }

    // MARK: Sending

    /// Seals `content` as the next message.
    /// - Returns: the bytes for the wire, and whether the bytes are a ``KeyExchange``.
    /// - Throws: `RatchetError.exhausted`, `malformed` if nothing was received yet by the side that did not begin.
    package mutating func seal(
        _ content: Secret, _ random: Randomness = .system
    ) throws -> (bytes: [UInt8], isExchange: Bool) {
        defer { kalij_overwrite_stack() }
        var next = self
        let chain = try next.sending ?? next.turnSending(random)
        let (messageKey, behind) = try chain.next()
        next.sending = behind
        let header = RatchetMessage.Header(key: next.pair.key, number: chain.number, previous: next.previous)
        let message = try MessageKeys(messageKey, dialect).seal(content, header, associated(from: ours, to: theirs))
        self = next
        return isAnswered
            ? (message, false) : (KeyExchange.bytes(exchange, ours, message, dialect), true)
    }

    public mutating func seal(_ content: Secret) throws -> (bytes: [UInt8], isExchange: Bool) {
        try seal(content, .system)
    }

    private mutating func turnSending(_ random: Randomness) throws -> Chain {
        guard let remote else { throw RatchetError.malformed("nothing was received in this session") }
        pair = try KeyPair.make(random)
        return try turn(pair.secret, remote)
    }

    // MARK: Receiving

    /// A read message.
    public struct Opened: Sendable {
        /// The content: keys, for ``Payload``.
        public let content: Secret
        /// The session behind this message.
        public let session: Session
        /// The kept key that was used, and is to be forgotten.
        public let used: SkippedKey.Name?
        /// Keys to be kept, in order.
        public let skipped: [SkippedKey]
    }

    /// How many keys reading `message` would skip; 0 if its key is available, or no longer exists. Nothing is derived.
    public func distance(to message: RatchetMessage.Header) -> Int {
        guard message.key == remote, let receiving else {
            return Int(message.number) + (receiving?.gap(before: message) ?? 0)
        }
        return max(0, Int(message.number) - Int(receiving.number))
    }

    /// Whether `message` belongs to a chain that this session has received from: then no new ratchet key has to be tried.
    public func hasChain(of message: RatchetMessage.Header) -> Bool { receiving != nil && remote == message.key }

    /// Reads `message`.
    /// - Parameter kept: the kept key of that name, if there is any.
    /// - Throws: `RatchetError.mac`, `keyGone`, `tooFar`, `badKey`.
    public func open(_ message: RatchetMessage, kept: (SkippedKey.Name) throws -> Secret?) throws -> Opened {
        defer { kalij_overwrite_stack() }
        let (header, associated) = (message.header, associated(from: theirs, to: ours))
        var next = self
        next.isAnswered = true
        let name = SkippedKey.Name(key: header.key, number: header.number)
        if let messageKey = try kept(name) {
            let content = try MessageKeys(messageKey, dialect).open(message, associated)
            return Opened(content: content, session: next, used: name, skipped: [])
        }
        var skipped: [SkippedKey] = []
        if header.key != remote || receiving == nil {
            try next.turnReceiving(header, &skipped)
        }
        guard let chain = next.receiving else { throw RatchetError.keyGone }
        let (messageKey, behind) = try chain.skip(to: header.number, header.key, &skipped).next()
        next.receiving = behind
        let content = try MessageKeys(messageKey, dialect).open(message, associated)
        return Opened(content: content, session: next, used: nil, skipped: skipped)
    }

    /// A new ratchet key was received.
    private mutating func turnReceiving(_ header: RatchetMessage.Header, _ skipped: inout [SkippedKey]) throws {
        guard header.number <= RatchetLimits.mostSkipped else { throw RatchetError.tooFar }
        // The old chain's keys are given up rather than this message.
        if let receiving, let remote, case let gap = receiving.gap(before: header), gap > 0,
            gap + Int(header.number) <= RatchetLimits.mostSkipped
        {
            _ = try receiving.skip(to: header.previous + 1, remote, &skipped)  // fits: below 2³¹
        }
        receiving = try turn(pair.secret, header.key)
        remote = header.key
        previous = sending?.number ?? previous
        sending = nil
    }

    /// What the MAC also covers: in 0.3 the sender is first, in 2 the initiator.
    func associated(from sender: PublicIdentity, to recipient: PublicIdentity) -> [UInt8] {
        let isTurned = dialect == .omemo2 && (sender == ours) != isInitiator
        let (first, second) = isTurned ? (recipient, sender) : (sender, recipient)
        return dialect.encode(first) + dialect.encode(second)
    }
}

extension Session {
    /// The side whose bundle was used. Its first ratchet key is the signed prekey.
    init(
        responding dialect: OMEMOVersion, ours: PublicIdentity, theirs: PublicIdentity, exchange: Exchange,
        root: Secret,
        pair: KeyPair
    ) {
        self.init(
            dialect: dialect, isInitiator: false, ours: ours, theirs: theirs, exchange: exchange, isAnswered: true,
            root: root, pair: pair, remote: nil, sending: nil, receiving: nil, previous: 0)
    }
}
