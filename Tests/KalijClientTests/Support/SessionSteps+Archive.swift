@testable import KalijCore
@testable import KalijEngine
@testable import KalijFeatures

extension SessionSteps {
    /// Reads the archive on, as its service does after a while.
    func readArchive() throws -> Step.Effects {
        try runner.run("archive", for: account) { step in
            guard try SessionRow.load(account.id, from: step.database).archive else { return }
            try step.catchUp.resync()
        }
    }
}
