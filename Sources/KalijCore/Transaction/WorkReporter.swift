import KalijStore

/// A feature with work that keeps a process alive that ends by itself (`kalij send`, `kalij wake`).
public protocol WorkReporter: Feature {
    /// Whether the work is to transfer files, which some processes never do.
    static var transfersFiles: Bool { get }

    /// Whether work is left that a process does before it ends by itself, besides the queue.
    static func hasOutstandingWork(for account: Account, in database: Database) throws -> Bool

    /// Whether something is in progress that makes the server push later, such as entering a room: a `wake` waits a little for the end.
    static func awaitsPushPrerequisite(for account: Account, in database: Database) throws -> Bool
}

extension WorkReporter {
    public static var transfersFiles: Bool { false }
    public static func awaitsPushPrerequisite(for account: Account, in database: Database) throws -> Bool { false }
}
