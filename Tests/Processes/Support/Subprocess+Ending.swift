import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

extension Subprocess {
    /// Waits for the end. A program still running after ``hangLimit`` is killed, and the test has failed: so the program is
    /// known, and the rest of the tests still runs.
    @discardableResult
    func ended(sourceLocation: SourceLocation = #_sourceLocation) -> Ending? {
        if let ending = blockingWait(seconds: hangLimit) { return ending }
        let place = (try? String(contentsOfFile: "/proc/\(pid)/wchan", encoding: .utf8)) ?? "?"
        signal(SIGKILL)
        Issue.record("\(name) has not ended within \(hangLimit) s, in \(place)", sourceLocation: sourceLocation)
        return blockingWait(seconds: 10)
    }
}

extension Subprocess.Ending {
    /// The exit status, or the number of the signal.
    var status: Int32 {
        switch self {
        case .exited(let status): status
        case .killed(let signal): signal
        }
    }
}
