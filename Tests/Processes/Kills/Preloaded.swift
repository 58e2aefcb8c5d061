import Foundation

/// `LD_PRELOAD` for libraries of a test. A library that the tests themselves run with stays, behind them.
func preloaded(_ libraries: String...) -> String {
    let own = ProcessInfo.processInfo.environment["LD_PRELOAD"].map { [$0] } ?? []
    return (libraries + own.filter { !$0.isEmpty }).joined(separator: ":")
}
