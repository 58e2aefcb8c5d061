import CAdwaita
import Glibc
import KalijApp
import KalijClient
import KalijCoordination
import KalijDesktop
import KalijText

/// Runs the app to its end.
/// - Returns: the exit status.
public func runApp(_ arguments: [String]) -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    Translations.begin(in: AppProgram.catalogs)
    if arguments.contains("--help") || arguments.contains("--version") {
        let text = arguments.contains("--help") ? CommandLineWords.usage : "kalij-app \(kalijVersion)\n"
        AppProgram.write(text, to: STDOUT_FILENO)
        return 0
    }
    guard let words = CommandLineWords(arguments) else {
        AppProgram.write(CommandLineWords.usage)
        return 64
    }
    if words.isBackground {
        AppProgram.execute("kalij-app-background", words.forwarded, as: words.applicationID)
        return 71
    }
    guard getenv("WAYLAND_DISPLAY") != nil || getenv("DISPLAY") != nil || getenv("GDK_BACKEND") != nil else {
        AppProgram.write("kalij-app: no display: neither WAYLAND_DISPLAY nor DISPLAY is set\n")
        return 69
    }
    guard let path = words.directory else {
        AppProgram.write("kalij-app: no directory for data: neither XDG_DATA_HOME nor HOME is set\n")
        return 78
    }
    MainQueue.attach()
    return run(AccountDirectory(path), words, id: words.applicationID)
}

private func run(_ directory: AccountDirectory, _ words: CommandLineWords, id: String) -> Int32 {
    // Without a session bus GApplication would refuse to start.
    let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil)
    let isAlone = bus == nil
    // The window remains when the bus ends: the end of the session ends the display, too.
    if let bus { g_dbus_connection_set_exit_on_close(bus, 0) }
    // GTK 4.8 finds the accessibility bus by the display, and then has no path for its objects.
    if isAlone { setenv("GTK_A11Y", "none", 1) }
    // Another thread runs from here on: the locale and the environment must not change.
    gtk_disable_setlocale()
    let migration = Migration()
    var directory = directory
    directory.willMigrate = { migration.begin() }
    let reader = Reader(directory)
    let first = FirstLook(reader)
    guard let application = kalij_application(id, isAlone ? 1 : 0) else { return 70 }
    defer { g_object_unref(raw(application)) }
    var window: MainWindow?
    let present = { (address: String?) in
        if let address { window?.visit(address) }
        if let window { return window.present() }
        let made = MainWindow(OpaquePointer(application), reader, first, words, visiting: address)
        window = made
        migration.window = made
        made.present()
        after(0) { Announcer.begin() }
    }
    connect(raw(application), "activate") { _ in present(nil) }
    connect(raw(application), "open") { present(CommandLineWords.address(in: kalij_get_pointer($0.values + 1))) }
    onTermination { g_action_group_activate_action(OpaquePointer(application), "quit", nil) }
    let status = run(application, opening: words.open)
    if window?.continuesInBackground ?? false {
        AppProgram.execute("kalij-app-background", words.forwarded, as: id)
    }
    withExtendedLifetime(window) {}
    return status
}

/// The migration of the tables, which begins on another thread, perhaps before there is a window.
private final class Migration {
    weak var window: MainWindow? { didSet { show() } }
    private var isNew = false

    nonisolated func begin() {
        Task { @MainActor in
            isNew = true
            show()
        }
    }

    private func show() {
        guard isNew, let window else { return }
        isNew = false
        window.heard(.driving(.migrating))
    }
}

private func uri(of address: String) -> String {
    guard let escaped = g_uri_escape_string(address, "@/", 1) else { return "xmpp:" }
    defer { g_free(escaped) }
    return "xmpp:" + String(cString: escaped)
}

/// Runs the application, or has the one that is running open the address.
private func run(_ application: UnsafeMutablePointer<AdwApplication>, opening address: String?) -> Int32 {
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("kalij-app")]
    if let address { arguments.append(strdup(InvitationLink(address) == nil ? uri(of: address) : address)) }
    defer { for argument in arguments { free(argument) } }
    return g_application_run(cast(raw(application)), Int32(arguments.count), &arguments)
}
