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

    init(server: ServerKind, seed: UInt64) {
        self.server = server
        self.seed = seed
    }

    /// Starts that were killed before the server had answered.
    public var startsCutShort: Int { max(0, starts - startsResumed - startsBound) }
    /// The share of starts that ended in `<resumed/>`.
    public var resumedShare: Double { share(startsResumed, of: starts) }
    /// The share of sessions that were resumed, of those resumed or bound.
    public var resumedShareOfSessions: Double { share(resumed, of: resumed + bound) }
    public var unacknowledgedOutShare: Double { share(killsWithUnacknowledgedOut, of: kills) }
    public var unacknowledgedInShare: Double { share(killsWithUnacknowledgedIn, of: kills) }

    /// Nothing lost, twice, out of order or invented, in either direction, `kalij run` never ended by itself, and the
    /// archive, which is the judge, is whole: it has all that the other side has sent.
    public var isClean: Bool {
        incoming.isClean && outgoing.isClean && crashes == 0 && incoming.expected >= offered && outgoing.unarchived == 0
    }

    private func share(_ part: Int, of whole: Int) -> Double {
        whole == 0 ? 0 : Double(part) / Double(whole)
    }
}
