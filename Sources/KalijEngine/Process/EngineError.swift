import KalijCore
import KalijAddress
import KalijCoordination

/// Why an engine ended.
public enum EngineError: Error, CustomStringConvertible, Sendable {
    /// No account can log in; `account` is one of the accounts.
    case refused(account: JID, reason: String)
    /// The engine does not drive the account: it is logged out, or the engine is not running.
    case notDriven(account: JID)
    /// The driver has accepted the push of this `wake`, which has nothing left to do.
    case handedOver(to: FenceOwner)
    /// The engine has ended, or is frozen.
    case notRunning
    /// The system cannot create a thread for the engine.
    case noThread(reason: String)

    public var description: String {
        switch self {
        case .refused(let account, let reason): "\(account): \(reason)"
        case .notDriven(let account): "\(account) is not driven by this engine"
        case .handedOver(let owner): "process \(owner.pid) drives as `\(owner.role.rawValue)` and takes care of it"
        case .notRunning: "the engine does not run"
        case .noThread(let reason): "no thread for the engine: \(reason)"
        }
    }
}
