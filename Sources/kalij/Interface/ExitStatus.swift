import KalijClient

/// What the command's exit status says; the numbers are those of <sysexits.h> where it has one.
enum ExitStatus: Int32 {
    case done = 0
    /// Nothing found.
    case nothing = 1
    /// Wrong usage.
    case usage = 64
    /// Bad input.
    case badInput = 65
    /// The server cannot be reached or does not answer as it should.
    case unavailable = 69
    /// Try again later: another process drives, or the machine is short of something.
    case tryAgain = 75
    /// The server refuses the login.
    case refused = 77
    /// The database or the configuration cannot be used.
    case badConfiguration = 78

    /// What became of a question.
    init(of question: Questions.Question) {
        switch question.outcome {
        case "result": self = .done
        case "error": self = .nothing
        default: self = .tryAgain
        }
    }

    /// That of several questions: an answer that is missing may come, an error is one.
    static func of(_ all: [ExitStatus]) -> ExitStatus {
        all.contains(.tryAgain) ? .tryAgain : all.contains(.nothing) ? .nothing : .done
    }
}

/// What ends a command before it is done.
struct Failure: Error {
    let status: ExitStatus
    let message: String
    /// Whether whoever typed it has not seen how the command is used.
    let isLost: Bool

    init(_ status: ExitStatus, _ message: String, isLost: Bool = false) {
        self.status = status
        self.message = message
        self.isLost = isLost
    }
}
