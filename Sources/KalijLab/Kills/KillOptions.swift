/// The options of a run of kills.
public struct KillOptions: Sendable {
    /// The least number of kills of `kalij run`.
    public var kills = 50
    /// The least number of messages each way.
    public var messages = 500
    /// Decides every moment of a kill. (The processes' own timing is not repeatable.)
    public var seed: UInt64 = 1
    public let server: ServerKind
    /// The absolute path of the `kalij` to kill.
    public var kalij: String
    /// The time from the start of `kalij run` to the kill in milliseconds, all moments being equally likely. A session is resumed
    /// after about 80 ms, so a kill in twenty or so occurs during connecting. Where most processes would die before they are
    /// online, they live longer.
    public var lifetime: ClosedRange<Int> = 45...600
    /// The share of `kalij send` processes that are killed too, 1...60 ms after their start.
    public var sendKills = 0.1
    /// Messages a second from the other side; 0 for as fast as the server takes messages.
    public var rate: Double = 60
    /// The pause between two `kalij send`, in milliseconds.
    public var sendPause = 10
    /// The share of kills of `kalij run` after which the session is made to be lost, by each ``LossCause`` in turn.
    public var failedResumes = 0.0
    /// The share of connections cut by a proxy between Kalij and the server, at a random point.
    public var cuts = 0.0
    /// Makes the way to the server, and gives the port of 127.0.0.1 where Kalij enters; nil for the server's own port. Not with ``cuts``.
    public var way: (@Sendable (any XMPPServer) async throws -> Int)?
    /// New accounts are taken after so many messages in one direction: growing archives slow servers down.
    public var messagesPerAccount = 5000
    /// Which messages the server's archives keep. Where some are not kept, the archives are not queried: received messages are
    /// compared with the other side's, and the server is never ended, because it could not be determined which messages were lost
    /// with the server.
    public var archive = ArchivePolicy.always
    /// Whether the server's certificate is as large as a usual authority's (``ServerOptions/largeCertificate``).
    public var largeCertificate = false

    /// The standard run: 50 kills, 500 messages each way.
    public init(kalij: String, server: ServerKind = .prosody) {
        self.kalij = kalij
        self.server = server
    }

    /// The server's options: if sessions are to be lost, the server keeps fewer stanzas for a shorter time, so that a
    /// loss takes seconds.
    var serverOptions: ServerOptions {
        var options = failedResumes > 0 ? ServerOptions(resumeSeconds: 4, queueLimit: 250) : ServerOptions()
        options.archive = archive
        options.largeCertificate = largeCertificate
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
    /// Kalij's account; a long run uses several accounts.
    public var account: String
    public var kills: Int
    /// Messages sent by the other side.
    public var incoming: Int
    /// Replies accepted by `kalij send`.
    public var outgoing: Int
    /// From 0 to 1: the progress of the slowest target.
    public var fraction: Double
}
