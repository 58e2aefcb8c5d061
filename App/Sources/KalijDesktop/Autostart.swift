import Glibc

/// Starts Kalij without a window when the user logs in: by the portal within a sandbox, else by a file.
public enum Autostart {
    /// - Parameter words: the arguments of the app besides `--background`.
    public static func set(_ isOn: Bool, id: String, words: [String]) {
        if DesktopNotifications.usesPortal { return Autostart.requestPortal(isOn, words) }
        guard let folder else { return }
        let path = folder + "/" + id + ".desktop"
        guard isOn else {
            unlink(path)
            return
        }
        for end in folder.indices where folder[end] == "/" { mkdir(String(folder[..<end]), 0o700) }
        mkdir(folder, 0o700)
        guard let file = fopen(path + ".new", "we") else { return }
        let text = entry(command: [AppProgram.path(of: "kalij-app"), "--background"] + words)
        let isWritten = fputs(text, file) >= 0
        guard fclose(file) == 0, isWritten, rename(path + ".new", path) == 0 else {
            unlink(path + ".new")
            return
        }
    }

    private static var folder: String? {
        if let config = getenv("XDG_CONFIG_HOME").map({ String(cString: $0) }), config.hasPrefix("/") {
            return config + "/autostart"
        }
        return getenv("HOME").map { String(cString: $0) + "/.config/autostart" }
    }

    static func entry(command: [String]) -> String {
        "[Desktop Entry]\nType=Application\nName=Kalij\nNoDisplay=true\nExec="
            + command.map(quoted).joined(separator: " ") + "\n"
    }

    /// An argument of the key `Exec` (Desktop Entry Specification): quoted, in a string in which backslashes are escaped again.
    static func quoted(_ argument: String) -> String {
        var quoted = ""
        for character in argument.unicodeScalars {
            switch character {
            case "\"", "`", "$": quoted += "\\\\" + String(character)
            case "\\": quoted += "\\\\\\\\"
            case "%": quoted += "%%"
            case "\n": quoted += "\\n"
            default: quoted.unicodeScalars.append(character)
            }
        }
        return "\"" + quoted + "\""
    }

    private static func requestPortal(_ isOn: Bool, _ words: [String]) {
        guard let bus = SessionBus() else { return }
        let options: [(String, BusValue)] = [
            ("autostart", .flag(isOn)), ("commandline", .texts(["kalij-app", "--background"] + words)),
        ]
        Task {
            _ = try? await bus.call(
                GTKNotifications.portal, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Background",
                "RequestBackground", [.text(""), .properties(options)])
        }
    }
}
