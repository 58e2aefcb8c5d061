import KalijAddress
import KalijClient
import KalijFiles
import KalijCoordination
import KalijStore
import KalijTransport
import KalijXML

extension Failure {
    /// The failure for `error`, described for the user at the terminal.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case is OutputClosed: self.init(.temporaryFailure, "nobody reads standard output")
        case let error as JIDError: self.init(.badInput, "\(error)")
        case let error as AcceptError: self.init(.badInput, "\(error)")
        case let error as FileError: self.init(Self.status(of: error), "\(error)")
        case let error as IntentFailure: self.init(.badInput, "\(error)")
        case let error as RequestError: self.init(.badInput, "\(error)")
        case let error as QuerySyntaxError: self.init(.badInput, "\(error)")
        case let error as SearchError: self.init(.badInput, "\(error)")
        case let error as PasswordError: self.init(.badInput, "\(error)")
        case let error as XMLError: self.init(.badInput, "\(error)")
        case FenceError.lockFile(let path, let reason): self.init(.badConfiguration, "\(path): \(reason)")
        case let error as FenceError: self.init(.temporaryFailure, "\(error)")
        case let error as StoreError: self.init(Self.status(of: error), Self.text(of: error))
        case let error as DirectoryError: self.init(.badConfiguration, "\(error)")
        case let error as DoorbellError: self.init(.badConfiguration, "\(error)")
        case let error as LoginError: self.init(Self.status(of: error), "\(error)")
        case EngineError.refused(let account, let reason): self.init(.refused, "\(account): \(reason)")
        case let error as SystemError: self.init(.temporaryFailure, "\(error)")
        default: self.init(.badConfiguration, "\(error)")
        }
    }

    /// A full disk is a temporary condition, a missing permission is not.
    private static func status(of error: StoreError) -> ExitStatus {
        error.isMachineError && error.code != .cannotOpen ? .temporaryFailure : .badConfiguration
    }

    /// The failure of a file that the user specified.
    init(_ error: any Error, file path: String) {
        guard let error = error as? FileError else {
            self.init(error)
            return
        }
        let wayOut = error.code == .notStripped ? "; --keep-metadata sends the file as it is" : ""
        self.init(Self.status(of: error), "\(path): \(error)\(wayOut)")
    }

    /// The cause is the file, or the disk.
    private static func status(of error: FileError) -> ExitStatus {
        [.diskFull, .inputOutput, .busy, .changed].contains(error.code) ? .temporaryFailure : .badInput
    }

    private static func text(of error: StoreError) -> String {
        switch error.code {
        case .full: "\(error.message); make room there and try again"
        case .busy: "\(error.message): another process is writing; try again"
        case .cannotOpen, .inputOutput, .outOfMemory: error.message
        default: "\(error)"
        }
    }

    /// The failure, with a possible remedy.
    init(_ error: any Error, wayOut: String?) {
        let failure = Failure(error)
        self.init(failure.status, wayOut.map { "\(failure.message); \($0)" } ?? failure.message)
    }

    private static func status(of error: LoginError) -> ExitStatus {
        switch error {
        case .refused(let reason) where reason.isRefusal || reason.needsPassword: .refused
        // A file that the user specified.
        case .unreachable(let failure) where failure.attempts.contains { $0.kind == .configuration }: .badInput
        default: .unavailable
        }
    }
}
