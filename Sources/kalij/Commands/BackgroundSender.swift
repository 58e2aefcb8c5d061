import Glibc
import KalijClient
import KalijCoordination
import KalijTransport

/// Sends with the `background` role, if no other process drives.
enum BackgroundSender {
    static let budget = 30.0

    /// The result.
    enum Outcome {
        /// This process was online, or has attempted to connect.
        case driven
        /// Another process drives, and was signalled.
        case handedOver
        case failed(Failure)
    }

    /// Sends queued stanzas, and reports errors on standard error: the stanzas remain accepted.
    static func sendWhatIsQueued(_ shared: SharedOptions) {
        let progress = Progress(of: nil, endsUnreached: true)
        if case .failed(let failure) = send(shared, progress) {
            Output.error("not sent yet: \(failure.message)")
        } else if let problem = progress.problem {
            Output.error("not sent yet: \(problem)")
        }
    }

    /// Sends queued stanzas.
    /// - Parameters:
    ///   - budget: how many seconds this process drives at most; nil: as long as there is work.
    ///   - mayEnd: whether nothing besides sending is pending.
    ///   - signals: signals that interrupt `progress`.
    ///   - told: receives each event, after `progress`.
    ///   - began: receives each engine before its run.
    static func send(
        _ shared: SharedOptions, _ progress: Progress, within budget: Double? = budget,
        signals: [Int32] = [SIGTERM, SIGINT], mayEnd: @escaping () throws -> Bool = { true },
        told: @escaping (EngineEvent) -> Void = { _ in }, began: (Engine) -> Void = { _ in }
    ) -> Outcome {
        var options = Engine.Options(role: .background, budget: budget)
        options.mayEnd = mayEnd
        let printer = EventPrinter(json: false, verbose: shared.verbose, clock: shared.clock)
        for _ in 0..<100 {
            do {
                let ending = try Engine.drive(
                    shared.directory, options: options,
                    onEvent: {
                        if shared.verbose { printer.printNotice($0) }
                        progress.see($0)
                        told($0)
                    },
                    began: { engine in
                        progress.engine = engine
                        began(engine)
                        guard !signals.isEmpty else { return }
                        try engine.loop.watchSignals(signals) { [weak progress] _ in progress?.interrupt() }
                    })
                guard ending == .handedOver else { return .driven }
                // Another process drives. It may have checked for work before this process's commit, and listened only
                // afterwards: signal it again.
                if Doorbell.bell(directory: shared.directory.path) != nil { return .handedOver }
                usleep(20_000)  // the other process is just starting or just ending
            } catch FenceError.held {
                usleep(20_000)  // another process migrates the tables
            } catch {
                return .failed(Failure(error))
            }
        }
        return .failed(Failure(.temporaryFailure, "another process holds the data directory and does not answer"))
    }
}
