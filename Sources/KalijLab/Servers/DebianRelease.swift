import Glibc
import KalijText

/// Whose servers run: those that are installed, or those of Debian 13 in a folder.
public enum DebianRelease: Sendable, Hashable {
    /// The installed packages: Debian 12's.
    case installed
    /// The packages of Debian 13 in a folder made by `Scripts/debian13-servers`. Needs root, for chroot and a mount.
    case debian13(folder: String)

    /// The releases that tests can run.
    public static var available: [DebianRelease] { [.installed] + (newer.map { [$0] } ?? []) }

    /// Debian 13's servers, in the folder of `KALIJ_DEBIAN13`; nil where they are missing.
    public static var newer: DebianRelease? {
        guard let folder = EnvironmentVariable.value("KALIJ_DEBIAN13") else { return nil }
        return access(folder + "/root/usr", F_OK) == 0 ? .debian13(folder: folder) : nil
    }

    /// The release of a server without another choice: Debian 13's where they are, unless `KALIJ_SERVERS=debian12`.
    public static var standard: DebianRelease {
        EnvironmentVariable.value("KALIJ_SERVERS") == "debian12" ? .installed : newer ?? .installed
    }

    /// The program and the arguments for a program of the server's.
    ///
    /// A process of the newer release has the unpacked folder for its root. The laboratory's directory has the same path
    /// inside: by a mount that the process alone sees, and that ends with the process.
    func command(_ program: ServerProgram, _ arguments: [String], in laboratory: Laboratory) throws -> [String] {
        switch self {
        case .installed: return [try program.tool.path()] + arguments
        case .debian13(let folder):
            let script = """
                mkdir -p "$0$1" && mount --bind "$1" "$0$1" && root=$0 && shift && exec /usr/sbin/chroot "$root" "$@"
                """
            let words = ["-m", "/bin/sh", "-c", script, folder + "/root", laboratory.directory]
            return ["/usr/bin/unshare"] + words + program.unpacked + arguments
        }
    }
}

/// A program of a server's package.
enum ServerProgram {
    case prosody, prosodyctl, erl

    var tool: Tool {
        switch self {
        case .prosody: .prosody
        case .prosodyctl: .prosodyctl
        case .erl: .erl
        }
    }

    /// The words in the unpacked folder, where the choice between versions of Lua is missing.
    var unpacked: [String] {
        switch self {
        case .prosody: ["/usr/bin/lua5.4", "/usr/bin/prosody"]
        case .prosodyctl: ["/usr/bin/lua5.4", "/usr/bin/prosodyctl"]
        case .erl: ["/usr/bin/erl"]
        }
    }
}

extension Laboratory {
    /// A launch of a server's program.
    func launch(_ program: ServerProgram, of release: DebianRelease, _ arguments: [String]) throws -> Launch {
        let words = try release.command(program, arguments, in: self)
        return launch(words[0], Array(words.dropFirst()))
    }

    /// Runs a server's program to its end; see ``run(_:_:environment:seconds:)``.
    @discardableResult
    func run(
        _ program: ServerProgram, of release: DebianRelease, _ arguments: [String], environment: [String: String]
    ) async throws -> String {
        let words = try release.command(program, arguments, in: self)
        return try await run(words[0], Array(words.dropFirst()), environment: environment)
    }
}
