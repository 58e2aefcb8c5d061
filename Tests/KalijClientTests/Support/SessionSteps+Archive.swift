@testable import KalijCore
@testable import KalijEngine
@testable import KalijFeatures

extension SessionSteps {
    /// Continues the reading of the archive, as its service does after a delay.
    func readArchive() throws -> Step.Effects { try HistoryService.resync(account, runner) }
}
