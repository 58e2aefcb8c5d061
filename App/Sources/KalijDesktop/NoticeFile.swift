import CGIO
import Dispatch
import Glibc
import KalijApp

/// Shows the first notification of a conversation in a process of its own, which stores the desktop's number in a file: if this process is
/// killed between the call and its reply, the next one finds the number there. Replacing a notification needs no such file.
struct NoticeFile {
    private let path: String
    /// ``NotificationDisplay/name``
    private let display: String

    init(_ directory: String, _ key: ConversationKey, display: String) {
        path = directory + "/app.notice." + CommandLineWords.hash(key.account + " " + key.jid)
        self.display = display
    }

    func remove() { unlink(path) }

    /// The number that a process of a killed one has stored; waits until that process has ended.
    func number() async -> UInt32? {
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        for _ in 0..<Self.attempts where flock(file, LOCK_EX | LOCK_NB) != 0 {
            try? await Task.sleep(for: .milliseconds(20))
        }
        guard let text = Self.contents(of: file).map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
        let parts = text.split(separator: " ", maxSplits: 1)
        return parts.count == 2 && parts[1] == display ? UInt32(parts[0]) : nil
    }

    /// Half of a second more than a call may last.
    private static let attempts = 525

    /// Shows the notification.
    /// - Parameter arguments: those of `Notify`.
    func show(_ arguments: [BusValue]) async throws -> UInt32 {
        guard let pid = start(arguments) else { throw BusError(name: "") }
        await Self.awaitEnd(of: pid)
        guard let number = await number() else { throw BusError(name: "") }
        return number
    }

    /// Starts a process that shows the notification, and holds the lock of the file until it ends.
    private func start(_ arguments: [BusValue]) -> pid_t? {
        let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0, Self.write(arguments, to: file) else { return nil }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, file, Self.inherited)
        let program = AppProgram.path(of: "kalij-app-background")
        let arguments: [String] = [program, Self.option, display]
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        return posix_spawn(&pid, program, &actions, nil, &words, environ) == 0 ? pid : nil
    }

    private static func write(_ arguments: [BusValue], to file: Int32) -> Bool {
        guard let tuple = BusValue.tuple(arguments).flatMap({ g_variant_ref_sink($0) }) else { return false }
        defer { g_variant_unref(tuple) }
        let size = Int(g_variant_get_size(tuple))
        return pwrite(file, g_variant_get_data(tuple), size, 0) == size
    }

    private static func awaitEnd(of pid: pid_t) async {
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                done.resume()
            }
        }
    }

    // MARK: The other process

    static let option = "--notify"
    /// The descriptor of the file in the other process.
    private static let inherited: Int32 = 3

    /// Shows the notification whose arguments are in the inherited file, and replaces them by the number.
    /// - Parameter display: the desktop that shows it.
    /// - Returns: the exit status.
    static func serve(_ display: String) -> Int32 {
        let parts = display.split(separator: " ").map(String.init)
        guard parts.count == 3, let bytes = contents(of: inherited),
            let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil)
        else { return 64 }
        let type = g_variant_type_new("(susssasa{sv}i)")
        let data = g_bytes_new(bytes, gsize(bytes.count))
        let (service, path) = (FreedesktopNotifications.service, FreedesktopNotifications.path)
        let reply = g_dbus_connection_call_sync(
            bus, parts[1], path, service, "Notify", g_variant_new_from_bytes(type, data, 0), nil,
            G_DBUS_CALL_FLAGS_NO_AUTO_START, 10_000, nil, nil)
        guard let number = reply.flatMap({ BusReply($0).number(0) }) else { return 69 }
        let text = Array("\(number) \(display)".utf8)
        guard ftruncate(inherited, 0) == 0 else { return 74 }
        return pwrite(inherited, text, text.count, 0) == text.count ? 0 : 74
    }

    private static func contents(of file: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = pread(file, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }
}
