import KalijLab
import TestSupport

extension LongForm {
    /// The servers of a test: the one that `Scripts/long ... server=prosody` names, or both.
    static var servers: [ServerKind] {
        choice("server").flatMap { ServerKind(rawValue: $0) }.map { [$0] } ?? ServerKind.allCases
    }
}
