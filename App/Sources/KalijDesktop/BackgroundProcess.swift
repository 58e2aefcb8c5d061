import CGIO
import Glibc
import KalijApp
import KalijClient

/// Runs the app without a window, to its end, or until a window is requested: then the app replaces this process.
/// - Returns: the exit status.
public func runBackground(_ arguments: [String]) -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    if arguments.count == 3, arguments[1] == NoticeFile.option { return NoticeFile.serve(arguments[2]) }
    Translations.begin(in: AppProgram.catalogs)
    guard let words = CommandLineWords(arguments) else {
        AppProgram.write(CommandLineWords.usage)
        return 64
    }
    guard let path = words.directory else {
        AppProgram.write("kalij-app-background: no directory for data: neither XDG_DATA_HOME nor HOME is set\n")
        return 78
    }
    MainQueue.attach()
    guard let process = BackgroundProcess(AccountDirectory(path), words) else {
        AppProgram.write("kalij-app-background: no session bus\n")
        return 69
    }
    return process.run()
}

/// Receives messages and presents notifications, without a window.
final class BackgroundProcess {
    private let words: CommandLineWords
    private let directory: AccountDirectory
    private let reader: Reader
    private let backend: Backend
    private let notifications: DesktopNotifications
    private let application: UnsafeMutablePointer<GApplication>
    /// The arguments of the app that replaces this process; nil if none does.
    private var next: [String]?
    private var isEnding = false

    init?(_ directory: AccountDirectory, _ words: CommandLineWords) {
        let reader = Reader(directory)
        guard let notifications = DesktopNotifications(reader, application: words.applicationID),
            let application = g_application_new(
                words.applicationID,
                GApplicationFlags(G_APPLICATION_IS_SERVICE.rawValue | G_APPLICATION_HANDLES_OPEN.rawValue))
        else { return nil }
        (self.words, self.directory, self.reader, self.notifications, self.application) =
            (words, directory, reader, notifications, application)
        backend = Backend(directory, presenting: notifications.presenter)
    }

    func run() -> Int32 {
        notifications.onAction = { [weak self] action, target in self?.perform(action, target) }
        notifications.export(on: OpaquePointer(application))
        connectActivation()
        // Another process of the app has the name: it receives the messages.
        guard g_application_register(application, nil, nil) != 0 else { return 0 }
        g_application_hold(application)
        onTermination { [weak self] in self?.end() }
        if words.isActivated, BackgroundChoice.load(in: directory.path) != .yes { endLater() }
        Task { for await look in backend.looks() { if look == .driving(.noAccount) { end() } } }
        let status = g_application_run(application, 0, nil)
        if let next {
            AppProgram.execute("kalij-app", next, as: words.applicationID)
            return 71
        }
        return status
    }

    private func connectActivation() {
        let activated: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            guard let data else { return }
            nonisolated(unsafe) let me = data
            MainActor.assumeIsolated { Unmanaged<BackgroundProcess>.fromOpaque(me).takeUnretainedValue().open() }
        }
        let opened: @convention(c) (gpointer?, gpointer?, Int32, UnsafePointer<CChar>?, gpointer?) -> Void = {
            _, files, _, _, data in
            guard let data else { return }
            nonisolated(unsafe) let me = data
            let uri = CommandLineWords.address(in: files).map { ["xmpp:" + $0] } ?? []
            MainActor.assumeIsolated { Unmanaged<BackgroundProcess>.fromOpaque(me).takeUnretainedValue().open(uri) }
        }
        connect("activate", unsafeBitCast(activated, to: GCallback.self))
        connect("open", unsafeBitCast(opened, to: GCallback.self))
    }

    private func connect(_ signal: String, _ handler: @escaping GCallback) {
        // This object lives as long as the process.
        g_signal_connect_data(
            UnsafeMutableRawPointer(application), signal, handler, Unmanaged.passRetained(self).toOpaque(), nil,
            GConnectFlags(rawValue: 0))
    }

    private func perform(_ action: NotificationAction, _ target: NotificationTarget) {
        if action == .open { return open(["--conversation", target.text]) }
        Task {
            // Fails if the account was removed in the meantime.
            let isDone = try? await backend.perform(action, on: target, reading: reader)
            if isDone == false { open(["--conversation", target.text]) }
        }
    }

    /// Opens the window.
    /// - Parameter conversation: the arguments that name the conversation to open.
    private func open(_ conversation: [String] = []) {
        guard getenv("WAYLAND_DISPLAY") != nil || getenv("DISPLAY") != nil else { return }
        next = words.forwarded + conversation
        end()
    }

    // MARK: The end

    private func end() {
        guard !isEnding else { return }
        isEnding = true
        Task {
            await backend.stop()
            g_application_quit(application)
        }
    }

    /// Ends after an action, because the user has chosen not to receive messages without a window.
    private func endLater() {
        Task {
            try? await Task.sleep(for: .seconds(Self.linger))
            end()
        }
    }

    /// How many seconds a process stays that was started for an action: for the reply to be sent.
    private static let linger = 30
}
