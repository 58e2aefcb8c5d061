import CGIO

/// A picture of the screen, which the portal makes after the user has agreed (org.freedesktop.portal.Screenshot).
public enum ScreenPicture {
    private static let (service, path) = ("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop")
    private static let interface = "org.freedesktop.portal.Screenshot"
    private static let token = "kalij_screen"
    private static var isSubscribed = false
    private static var waiting: CheckedContinuation<String?, Never>?

    /// Whether the desktop has the portal.
    public static func isAvailable() async -> Bool {
        guard let bus = SessionBus() else { return false }
        let version = try? await bus.call(
            service, path, "org.freedesktop.DBus.Properties", "Get", [.text(interface), .text("version")])
        return version != nil
    }

    /// Waits for the user, who chooses what is in the picture.
    /// - Returns: the path of the picture; nil if the user has refused, or the portal fails.
    public static func make() async -> String? {
        guard waiting == nil, let bus = SessionBus() else { return nil }
        subscribe(bus)
        return await withCheckedContinuation { continuation in
            waiting = continuation
            Task {
                let options: [(String, BusValue)] = [("handle_token", .text(token)), ("interactive", .flag(true))]
                let request = try? await bus.call(
                    service, path, interface, "Screenshot", [.text(""), .properties(options)])
                if request == nil { finish(nil) }
            }
        }
    }

    /// The path of the request is formed from the connection's name and the token, so that its response cannot be missed.
    private static func subscribe(_ bus: SessionBus) {
        guard !isSubscribed else { return }
        isSubscribed = true
        let sender = bus.uniqueName.dropFirst().map { $0 == "." ? "_" : $0 }
        bus.subscribe(
            service, "org.freedesktop.portal.Request", "Response", at: path + "/request/" + String(sender) + "/" + token
        ) { _, response in
            finish(response.number(0) == 0 ? response.property("uri", at: 1) : nil)
        }
        // A portal that ends meanwhile does not respond.
        bus.subscribe("org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", first: service) { _, change in
            if change.text(2) == "" { finish(nil) }
        }
    }

    private static func finish(_ uri: String?) {
        let path = uri.flatMap { g_filename_from_uri($0, nil, nil) }
        let continuation = waiting
        waiting = nil
        continuation?.resume(returning: path.map { String(cString: $0) })
        g_free(path)
    }
}
