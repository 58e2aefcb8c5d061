import KalijStore

/// A feature with work that keeps a process alive that ends by itself (`kalij send`, `kalij wake`).
public protocol WorkReporter: Feature {
    /// Whether the feature's service does the work: it counts only in processes that have the service.
    static var worksInService: Bool { get }

    /// Whether work is left that a process does before it ends by itself, besides the queue.
    static func hasOutstandingWork(for account: Account, in database: Database) throws -> Bool

    /// Whether something is being received from the servers for which a `wake` waits.
    static func isReceiving(in database: Database) throws -> Bool

    /// Whether something is in progress that makes the server push later, such as entering a room: a `wake` waits a little for the end.
    static func awaitsPushPrerequisite(for account: Account, in database: Database) throws -> Bool

    /// The handlers of requests that the next process repeats: a process does not wait until these have left.
    static var repeatableRequests: [String] { get }
}

extension WorkReporter {
    public static var worksInService: Bool { false }
    public static func hasOutstandingWork(for account: Account, in database: Database) throws -> Bool { false }
    public static func isReceiving(in database: Database) throws -> Bool { false }
    public static func awaitsPushPrerequisite(for account: Account, in database: Database) throws -> Bool { false }
    public static var repeatableRequests: [String] { [] }
}
