import KalijClient

/// The meaning of the command's exit status; the numbers are from <sysexits.h> where possible.
enum ExitStatus: Int32 {
    case done = 0
    /// Nothing found.
    case nothing = 1
    /// Wrong usage.
    case usage = 64
    /// Bad input.
    case badInput = 65
    /// The server cannot be reached or gives wrong answers.
    case unavailable = 69
    /// Retry later: another process drives, or the machine lacks a resource.
    case temporaryFailure = 75
    /// The server refuses the login.
    case refused = 77
    /// The database or the configuration cannot be used.
    case badConfiguration = 78

    /// The status for the outcome of a request.
    init(of question: AdHocRequests.Question) {
        switch question.outcome {
        case "result": self = .done
        case "error": self = .nothing
        default: self = .temporaryFailure
        }
    }

    /// The status for several requests: a missing response may still arrive, an error is a response.
    static func of(_ all: [ExitStatus]) -> ExitStatus {
        all.contains(.temporaryFailure) ? .temporaryFailure : all.contains(.nothing) ? .nothing : .done
    }
}

/// The reason for ending a command early.
struct Failure: Error {
    let status: ExitStatus
    let message: String
    /// Whether to print the command's help.
    let isLost: Bool

    init(_ status: ExitStatus, _ message: String, isLost: Bool = false) {
        self.status = status
        self.message = message
        self.isLost = isLost
    }
}
