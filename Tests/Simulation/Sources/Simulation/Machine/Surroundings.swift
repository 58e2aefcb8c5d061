import KalijStore

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// The surroundings that processes share.
struct Surroundings {
    let world: World
    let directory: AccountDirectory
    let timing: Timing
    /// Whether `main` writes down notifications, as the other roles do.
    let mainNotifies: Bool
    let dial: (Int) -> Link?
    /// Somebody may have been rung, or hung up.
    let bells: () -> Void
    /// Kills whoever is frozen within a transaction of the database at a path.
    let killWriter: (String) -> Bool
    let shown: (Notification) -> Void
    /// Whether the next notification cannot be shown: nobody reads the output, or the disk is full.
    let outputFails: () -> Bool
    /// A process tells of something.
    let told: (EngineEvent) -> Void
    /// A process begins to drive, on the given database.
    let drives: (SimulatedProcess, Database) -> Void
    /// An overtaken process writes to the server all the same.
    let wrote: (SimulatedProcess, [UInt8]) -> Void
    /// A process has written to the network.
    let left: ([UInt8]) -> Void
    /// The upload service.
    let http: SimulatedHTTP
    /// The judge of logins.
    let login: SimulatedLogin
}
