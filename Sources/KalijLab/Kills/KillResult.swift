/// The result of a run of kills.
public struct KillResult: Codable, Sendable, Equatable {
    public var server: ServerKind
    public var seed: UInt64
    /// How long the killing took, in seconds.
    public var seconds: Double = 0
    /// Messages handed to the server by the other side, by the other side's count.
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
    /// Kills after which the raw table `queue` held messages that were sent and not acknowledged.
    public var killsWithUnacknowledgedOut = 0
    /// Kills at a time when the server had sent stanzas that were not acknowledged, by the server's log.
    public var killsWithUnacknowledgedIn = 0

    /// Starts of `kalij run` after the first bind.
    public var starts = 0
    /// Starts with `<resumed/>` in the server's log before the kill.
    public var startsResumed = 0
    /// How many had to bind anew.
    public var startsBound = 0
    /// All `<resumed/>` and new binds in the server's log after the first bind, with those of `kalij send`.
    public var resumed = 0
    public var bound = 0
    /// How long the account had no connection, in seconds, by the server's log.
    public var secondsOffline: Double = 0

    /// Pairs of accounts used.
    public var accounts = 0
    /// Kalij's accounts with differences from the archive.
    public var failedAccounts: [String] = []
    /// Why sessions could not be resumed, by the server's log.
    public var losses = SessionLosses()
    /// How often a session was made to be lost while messages had left and were not acknowledged.
    public var lossesWithUnacknowledged = 0
    /// How often the server was ended with SIGTERM and started again.
    public var serverRestarts = 0
    /// Connections cut by the proxy, by the proxy's count.
    public var cuts = CutCounts()

    /// Which messages the archives kept.
    public var archive: ArchivePolicy

    init(server: ServerKind, seed: UInt64, archive: ArchivePolicy = .always) {
        self.archive = archive
        self.server = server
        self.seed = seed
    }

    /// The figures as shares.
    public var shares: KillShares { KillShares(self) }

    /// Nothing was lost, twice, out of order or invented, in either direction; `kalij run` never ended by itself; and the
    /// archive, the reference, is whole: all messages of the other side are there, except those in transit when the server was
    /// ended.
    public var isClean: Bool {
        incoming.isClean && outgoing.isClean && crashes == 0
            && (archive != .always || serverRestarts > 0
                || incoming.expected >= offered && outgoing.unarchived == 0 && outgoing.undelivered == 0)
    }

    /// Messages handed to a connection by the other side, but not archived before the server was ended.
    public var droppedByServer: Int { archive != .always ? 0 : max(0, offered - incoming.expected) }

    /// Adds the result of another pair of accounts.
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
