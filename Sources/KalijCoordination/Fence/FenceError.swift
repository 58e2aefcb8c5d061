/// Why the fence could not be taken or is no longer this process's.
public enum FenceError: Error, CustomStringConvertible, Sendable {
    /// Another, living process drives.
    case held(FenceOwner)
    /// Another process has raised the fence since; all further steps of this process are refused.
    case stale(mine: Int64, now: Int64)
    /// The lock file cannot be used.
    case lockFile(path: String, reason: String)

    public var description: String {
        switch self {
        case .held(let owner): "process \(owner.pid) drives this directory as `\(owner.role.rawValue)`"
        case .stale(let mine, let now): "another process took over (fence \(now), ours was \(mine))"
        case .lockFile(let path, let reason): "\(path): \(reason)"
        }
    }
}
