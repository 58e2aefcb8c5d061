import CAdwaita
import Glibc
import KalijApp
import KalijClient
import KalijCoordination
import KalijText

/// The parsed command line.
struct CommandLineWords {
    static let usage = "usage: kalij-app [--data DIR] [xmpp:ADDRESS]\n"
    var data: String?
    /// The bare address of a conversation to open.
    var open: String?

    /// - Returns: nil for invalid arguments.
    init?(_ arguments: [String]) {
        var rest = arguments.dropFirst()
        while let word = rest.popFirst() {
            if word == "--data" {
                guard let path = rest.popFirst() else { return nil }
                data = path
            } else if word.hasPrefix("--data=") {
                data = String(word.dropFirst(7))
            } else if word.hasPrefix("xmpp:") {
                open = String(word.dropFirst(5).prefix { $0 != "?" })
            } else {
                return nil
            }
        }
    }
}

/// Runs the app to its end.
/// - Returns: the exit status.
public func runApp(_ arguments: [String]) -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    Translations.begin(in: catalogs())
    if arguments.contains("--help") || arguments.contains("--version") {
        let text = arguments.contains("--help") ? CommandLineWords.usage : "kalij-app \(kalijVersion)\n"
        write(text, to: STDOUT_FILENO)
        return 0
    }
    guard let words = CommandLineWords(arguments) else {
        write(CommandLineWords.usage)
        return 64
    }
    guard getenv("WAYLAND_DISPLAY") != nil || getenv("DISPLAY") != nil || getenv("GDK_BACKEND") != nil else {
        write("kalij-app: no display: neither WAYLAND_DISPLAY nor DISPLAY is set\n")
        return 69
    }
    guard let path = words.data.map(absolute) ?? UserData("kalij").path else {
        write("kalij-app: no directory for data: neither XDG_DATA_HOME nor HOME is set\n")
        return 78
    }
    MainQueue.attach()
    return run(AccountDirectory(path), words, id: applicationID(words.data == nil ? nil : path))
}

private func run(_ directory: AccountDirectory, _ words: CommandLineWords, id: String) -> Int32 {
    // Without a session bus GApplication would refuse to start.
    let isAlone = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil) == nil
    // GTK 4.8 finds the accessibility bus by the display, and then has no path for its objects.
    if isAlone { setenv("GTK_A11Y", "none", 1) }
    // Another thread runs from here on: the locale and the environment must not change.
    gtk_disable_setlocale()
    let reader = Reader(directory)
    let first = FirstLook(reader)
    guard let application = kalij_application(id, isAlone ? 1 : 0) else { return 70 }
    defer { g_object_unref(raw(application)) }
    var window: MainWindow?
    connect(raw(application), "activate") { _ in
        if let window { return window.present() }
        let made = MainWindow(OpaquePointer(application), reader, first, opening: words.open)
        window = made
        made.present()
        after(0) { Announcer.begin() }
    }
    // SIGTERM and SIGINT quit in an orderly manner: drafts are stored, and the engine releases the fence.
    for number in [SIGTERM, SIGINT] {
        g_unix_signal_add(
            number,
            { data in
                guard let data else { return 0 }
                nonisolated(unsafe) let object = data
                MainActor.assumeIsolated { g_action_group_activate_action(OpaquePointer(object), "quit", nil) }
                return 1
            }, raw(application))
    }
    let status = g_application_run(cast(raw(application)), 0, nil)
    withExtendedLifetime(window) {}
    return status
}

/// Derives the id from the directory: a second start with the same directory presents the window of the first.
private func applicationID(_ path: String?) -> String {
    guard let path else { return "org.kalij.App" }
    let hash = path.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return "org.kalij.App.d" + String(hash, radix: 16)
}

private func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return String(cString: folder) + "/" + path
}

/// The folder of the catalogs: beside the program as built, else where packages install them.
private func catalogs() -> String {
    guard let folder = programFolder().map({ $0 + "/locale" }), access(folder, R_OK) == 0 else {
        return "/usr/share/locale"
    }
    return folder
}

/// The folder of the running program.
func programFolder() -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &bytes, bytes.count - 1)
    guard count > 0 else { return nil }
    let program = String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return program.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
}

private func write(_ text: String, to file: Int32 = STDERR_FILENO) {
    _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
}
