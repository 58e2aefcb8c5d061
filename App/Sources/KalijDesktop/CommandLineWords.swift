import CGIO
import Glibc
import KalijApp
import KalijClient
import KalijCoordination

/// The parsed command line of the app, with or without a window.
public struct CommandLineWords {
    public static let usage = "usage: kalij-app [--data DIR] [--background] [xmpp:ADDRESS]\n"
    public private(set) var data: String?
    /// The bare address of a conversation to open, or the link of an invitation.
    public private(set) var open: String?
    /// A conversation to open, from a notification.
    public private(set) var target: NotificationTarget?
    public private(set) var isBackground = false
    /// Whether D-Bus has started the process for an action of a notification.
    public private(set) var isActivated = false

    /// - Returns: nil for invalid arguments.
    public init?(_ arguments: [String]) {
        var rest = arguments.dropFirst()
        while let word = rest.popFirst() {
            switch word {
            case "--background": isBackground = true
            case "--activated": isActivated = true
            case "--data", "--conversation":
                guard let value = rest.popFirst() else { return nil }
                if word == "--data" { data = value } else { target = NotificationTarget(value) }
            default:
                if word.hasPrefix("--data=") {
                    data = String(word.dropFirst(7))
                } else if let address = Self.address(word) {
                    open = address
                } else {
                    return nil
                }
            }
        }
        data = data.map(AppProgram.absolute)
    }

    /// The address in an URI of the scheme `xmpp` (RFC 5122), or the whole URI of an invitation; nil for another scheme, or without
    /// an address.
    public static func address(_ uri: String) -> String? {
        if InvitationLink(uri) != nil { return uri }
        guard uri.lowercased().hasPrefix("xmpp:"),
            let text = g_uri_unescape_string(String(uri.dropFirst(5).prefix { $0 != "?" && $0 != "#" }), nil)
        else { return nil }
        defer { g_free(text) }
        let address = String(cString: text)
        return address.isEmpty ? nil : address
    }

    /// The address in the first of the files that GApplication opens.
    /// - Parameter files: an array of GFile with at least one element.
    public static func address(in files: UnsafeMutableRawPointer?) -> String? {
        guard let file = files?.load(as: OpaquePointer?.self), let uri = g_file_get_uri(file) else { return nil }
        defer { g_free(uri) }
        return address(String(cString: uri))
    }

    /// The directory of the accounts; nil without a home.
    public var directory: String? { data ?? UserData("kalij").path }

    /// Derives the id from the directory: a second start with the same directory presents the window of the first.
    public var applicationID: String {
        guard let data else { return "org.kalij.App" }
        return "org.kalij.App.d" + Self.hash(data)
    }

    /// FNV-1a.
    static func hash(_ text: String) -> String {
        let hash = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }

    /// The arguments for another program of the app, on the same directory.
    public var forwarded: [String] { data.map { ["--data", $0] } ?? [] }
}
