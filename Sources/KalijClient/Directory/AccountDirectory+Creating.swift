import KalijCoordination
import KalijCore

extension AccountDirectory {
    /// Uses the directory at `path`, which need not exist yet.
    /// - Parameters:
    ///   - platform: the operating system services for processes that share the directory; all of them use the same platform.
    ///   - path: the path of the directory.
    public init(_ path: String, platform: Platform = .linux) {
        self.init(path, platform: platform, schema: .accounts)
    }

    /// Uses the shared directory of an application's processes, which need not exist yet; nil if the container has no
    /// path.
    public init?(_ container: some SharedContainer, platform: Platform = .linux) {
        guard let path = container.path else { return nil }
        self.init(path, platform: platform)
    }
}
