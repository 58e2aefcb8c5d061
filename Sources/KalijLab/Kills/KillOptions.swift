/// What a run of kills is to be like.
public struct KillOptions: Sendable {
    /// At least this many times `kalij run` is killed.
    public var kills = 50
    /// At least this many messages go each way.
    public var messages = 500
    /// Decides every moment of a kill. (What the processes do meanwhile is not repeatable.)
    public var seed: UInt64 = 1
    public let server: ServerKind
    /// The absolute path of the `kalij` to kill.
    public var kalij: String
    /// How long after its start `kalij run` is killed, in milliseconds, all moments being equally likely. It resumes
    /// its session after about 80 ms, so a kill in twenty or so hits while it connects.
    public var lifetime: ClosedRange<Int> = 45...600
    /// The share of `kalij send` processes that are killed too, 1...60 ms after their start.
    public var sendKills = 0.1
    /// Messages a second that the other side sends; 0 for as fast as the server takes them.
    public var rate: Double = 60
    /// The pause between two `kalij send`, in milliseconds.
    public var sendPause = 10
    /// The share of kills of `kalij run` after which the session is made to be lost, by each ``LossCause`` in turn.
    public var failedResumes = 0.0
    /// The share of connections that a proxy between Kalij and the server cuts, somewhere.
    public var cuts = 0.0
    /// New accounts are taken after this many messages in one direction: archives that grow slow servers down.
    public var messagesPerAccount = 5000
    /// Which messages the server's archives keep. Where they do not keep all, nothing is asked of them: what arrives is judged by
    /// what the other side receives, and the server is never ended, because nobody could tell what was lost with it.
    public var archive = ArchivePolicy.always
    /// The run gives up after this many seconds; nil for an hour, or five seconds a kill if that is more.
    public var limit: Double?

    /// The standard run: 50 kills, 500 messages each way.
    public init(kalij: String, server: ServerKind = .prosody) {
        self.kalij = kalij
        self.server = server
    }

    /// What the server is to be like: if sessions are to be lost, it keeps less of them, so that it takes seconds.
    var serverOptions: ServerOptions {
        var options = failedResumes > 0 ? ServerOptions(resumeSeconds: 4, queueLimit: 250) : ServerOptions()
        options.archive = archive
        return options
    }
}

/// How far a run of kills is.
public struct KillProgress: Sendable {
    public enum Phase: String, Sendable {
        case accounts = "accounts and kalij login"
        case killing = "killing and restarting"
        case draining = "last run: fetching and sending what is left"
        case reading = "reading the server's archives"
    }

    public var phase: Phase
    /// Kalij's account, which changes in a long run.
    public var account: String
    public var kills: Int
    /// Messages that the other side has sent.
    public var incoming: Int
    /// Replies that `kalij send` has accepted.
    public var outgoing: Int
    /// From 0 to 1: how far the target furthest behind is.
    public var fraction: Double
}
