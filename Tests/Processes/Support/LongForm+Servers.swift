import KalijLab
import TestSupport

extension LongForm {
    /// The servers of a test that is for each: the one that `Scripts/long --server` names, or `make test` by Tests/plan.toml, or both.
    static var servers: [ServerKind] {
        choice("server").flatMap { ServerKind(rawValue: $0) }.map { [$0] } ?? ServerKind.allCases
    }
}
