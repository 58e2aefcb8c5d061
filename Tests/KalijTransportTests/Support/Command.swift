import Glibc

/// A program run for a test.
final class Command {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private var pid: pid_t = 0

    /// Starts a program found in PATH. The output goes to `output`, a new file.
    init(_ arguments: [String], in directory: String? = nil, output: String = "/dev/null") throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // An inherited socket of Foundation's Process keeps that process from noticing its own program's end.
        _ = closeFrom?(&actions, 3)
        // The tests of signals block some, and a child would inherit the mask.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let all = (directory.map { ["env", "-C", $0] } ?? []) + arguments
        let words = all.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        let status = posix_spawnp(&pid, all[0], &actions, &attributes, words, environ)
        if status != 0 { throw Failure(description: "\(arguments[0]): \(String(cString: strerror(status)))") }
    }

    deinit { stop() }

    /// Ends the program if still running.
    func stop() {
        guard pid > 0 else { return }
        kill(pid, SIGKILL)
        wait()
    }

    /// Waits for the end. Returns the exit status, -1 after a signal.
    @discardableResult
    func wait() -> Int32 {
        var status: Int32 = 0
        guard pid > 0, waitpid(pid, &status, 0) == pid else { return -1 }
        pid = 0
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -1
    }

    /// Runs a program to its end; the error of a failure has the program's output.
    static func run(_ arguments: [String], in directory: String) throws {
        let log = directory + "/command.log"
        guard try Command(arguments, in: directory, output: log).wait() != 0 else { return }
        throw Failure(description: arguments.joined(separator: " ") + ": " + ((try? readText(log)) ?? ""))
    }
}

/// glibc's call to close all further descriptors in the child, which Swift's module of glibc leaves out.
private let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
    unsafeBitCast(
        $0, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
}

/// A directory that is removed with its object.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/kalij-transport-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Command.Failure(description: "mkdtemp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { remove() }

    func remove() {
        let remove = try? Command(["rm", "-rf", path])
        remove?.wait()
    }

    func write(_ text: String, to name: String) throws {
        guard let file = fopen(path + "/" + name, "w") else { throw Command.Failure(description: name) }
        fputs(text, file)
        fclose(file)
    }
}

func readText(_ path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw Command.Failure(description: path) }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
}
