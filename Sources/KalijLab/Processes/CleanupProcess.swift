import Glibc

/// A small shell process that cleans up after the laboratory, also when the laboratory is killed with SIGKILL.
///
/// The guardian waits for the end of a pipe with the laboratory as its only writer, and so learns of every kind of death. Then
/// the guardian kills every process with the laboratory's mark in its environment, until none is left: children's children
/// inherit the mark too, in any process group. Finally the guardian removes the directory. A normal end takes the same path, so
/// there is only one clean-up, tested every time.
final class CleanupProcess: Sendable {
    /// `NAME=value`, the mark of every process of this laboratory.
    let mark: (name: String, value: String)
    let pid: pid_t
    let pipe: Int32

    /// Three empty looks in a row, because a child that is just being started shows its environment a moment later.
    private static let script = #"""
        trap '' INT TERM HUP PIPE
        keep=
        while read -r word; do [ "$word" = keep ] && keep=1; done
        empty=0
        while [ "$empty" -lt 3 ]; do
            found=
            for file in $(grep -lsaF "$1" /proc/[0-9]*/environ); do
                pid=${file#/proc/}
                kill -KILL "${pid%/environ}" 2>/dev/null && found=1
            done
            if [ "$found" ]; then empty=0; else empty=$((empty + 1)); fi
            sleep 0.02
        done
        [ "$keep" ] || rm -rf "$2"
        """#

    init(directory: String) throws {
        var random = SystemRandomNumberGenerator()
        let value = "\(getpid())-" + String(random.next(), radix: 16) + String(random.next(), radix: 16)
        mark = ("KALIJ_LAB", value)
        let ends = try makePipe()
        defer { close(ends.reading) }
        var launch = Launch(executable: try Tool.shell.path())
        launch.arguments = ["-c", Self.script, "guardian", "KALIJ_LAB=\(value)", directory]
        launch.input = .descriptor(ends.reading)
        do {
            pid = try launch.spawn()
        } catch {
            close(ends.writing)
            throw error
        }
        pipe = ends.writing
    }

    /// Instructs the guardian not to remove the directory.
    func keepDirectory() throws {
        try writeAll(Array("keep\n".utf8), to: pipe, name: "the guardian")
    }

    /// Starts the clean-up and waits for its end. Uses only calls that are allowed in a signal handler.
    static func finish(pipe: Int32, pid: pid_t) {
        close(pipe)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }
}
