/// The options of `kalij demo`.
public struct DemoOptions: Sendable {
    /// The least number of kills of `kalij run`.
    public var kills = 50
    /// The least number of messages each way.
    public var messages = 500
    /// Decides the moments of the kills; random unless given.
    public var seed = UInt64.random(in: 1...999_999)
    public var server = ServerKind.prosody
    /// The percentage of kills after which the session is lost: expired, the server ended, the server's queue overrun.
    public var failedResumes = 0
    /// The percentage of connections that are cut in transit.
    public var cuts = 0
    /// Which messages the server's archives keep.
    public var archive = ArchivePolicy.always
    /// Prints the result as a JSON object instead of the table.
    public var json = false
    /// Leaves the directory with the database and the logs.
    public var keep = false

    /// The demo of the README.
    public init() {}
}
