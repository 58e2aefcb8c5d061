/// What a run of kills showed.
public struct KillResult: Codable, Sendable, Equatable {
    public var server: ServerKind
    public var seed: UInt64
    /// How long the killing took, in seconds.
    public var seconds: Double = 0
    /// Messages that the other side handed to the server, by its own count.
    public var offered = 0
    public var incoming = DirectionVerdict()
    public var outgoing = DirectionVerdict()

    /// SIGKILLs of `kalij run`.
    public var kills = 0
    /// SIGKILLs of `kalij send`.
    public var sendKills = 0
    /// `kalij send` ended by itself with another status than 0.
    public var sendFailures = 0
    /// `kalij run` ended by itself.
    public var crashes = 0
    /// Kills after which the raw table `queue` held messages that had left and were not acknowledged.
    public var killsWithUnacknowledgedOut = 0
    /// Kills at which the server had sent stanzas that were not acknowledged, by its log.
    public var killsWithUnacknowledgedIn = 0

    /// Starts of `kalij run` after the first bind.
    public var starts = 0
    /// Of these, how many saw `<resumed/>` in the server's log before they were killed.
    public var startsResumed = 0
    /// How many had to bind anew.
    public var startsBound = 0
    /// All `<resumed/>` and new binds in the server's log, those of `kalij send` included, after the first bind.
    public var resumed = 0
    public var bound = 0
    /// How long the account had no connection, in seconds, by the server's log.
    public var secondsOffline: Double = 0

    /// Pairs of accounts used.
    public var accounts = 0
    /// Kalij's accounts for which the archive did not agree.
    public var failedAccounts: [String] = []
    /// Why sessions could not be resumed, by the server's log.
    public var losses = SessionLosses()
    /// How often a session was made to be lost while messages had left and were not acknowledged.
    public var lossesWithUnacknowledged = 0
    /// How often the server was ended with SIGTERM and started again.
    public var serverRestarts = 0
    /// Connections that the proxy cut, by its own count.
    public var cuts = CutCounts()

    /// Which messages the archives kept.
    public var archive: ArchivePolicy

    init(server: ServerKind, seed: UInt64, archive: ArchivePolicy = .always) {
        self.archive = archive
        self.server = server
        self.seed = seed
    }

    /// The shares that the figures are told as.
    public var shares: KillShares { KillShares(self) }

    /// Nothing lost, twice, out of order or invented, in either direction, `kalij run` never ended by itself, and the
    /// archive, which is the judge, is whole: it has all that the other side has sent, unless the server was ended
    /// while that was on its way.
    public var isClean: Bool {
        incoming.isClean && outgoing.isClean && crashes == 0
            && (archive != .always || serverRestarts > 0
                || incoming.expected >= offered && outgoing.unarchived == 0 && outgoing.undelivered == 0)
    }

    /// Messages that the other side handed to a connection, and that the server did not archive before it was ended.
    public var droppedByServer: Int { archive != .always ? 0 : max(0, offered - incoming.expected) }

    /// Adds what another pair of accounts showed.
    static func += (sum: inout KillResult, more: KillResult) {
        sum.seconds += more.seconds
        sum.offered += more.offered
        sum.incoming += more.incoming
        sum.outgoing += more.outgoing
        sum.kills += more.kills
        sum.sendKills += more.sendKills
        sum.sendFailures += more.sendFailures
        sum.crashes += more.crashes
        sum.killsWithUnacknowledgedOut += more.killsWithUnacknowledgedOut
        sum.killsWithUnacknowledgedIn += more.killsWithUnacknowledgedIn
        sum.starts += more.starts
        sum.startsResumed += more.startsResumed
        sum.startsBound += more.startsBound
        sum.resumed += more.resumed
        sum.bound += more.bound
        sum.secondsOffline += more.secondsOffline
        sum.accounts += more.accounts
        sum.failedAccounts += more.failedAccounts
        sum.losses += more.losses
        sum.lossesWithUnacknowledged += more.lossesWithUnacknowledged
        sum.serverRestarts += more.serverRestarts
    }
}
