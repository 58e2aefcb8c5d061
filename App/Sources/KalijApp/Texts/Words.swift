/// All texts of the app, in the user's language. Scripts/app-texts reads them from here.
public enum Words {
    // Names of things
    public static var you: String { tr("You") }
    static func you(_ name: String) -> String { tr("You ({name})", ["name": name]) }
    public static var conversations: String { tr("Conversations") }
    public static var messages: String { tr("Messages") }
    public static var message: String { tr("Message") }
    static func message(to recipient: String) -> String { tr("Message to {name}", ["name": recipient]) }
    public static var send: String { tr("Send") }
    public static var back: String { tr("Back") }
    public static var search: String { tr("Search") }
    public static var menu: String { tr("Menu") }
    public static var newConversation: String { tr("New conversation") }
    public static var address: String { tr("Address") }
    public static var password: String { tr("Password") }
    public static var showPassword: String { tr("Show password") }
    public static var theAccount: String { tr("Account") }
    public static var server: String { tr("Server") }
    public static var logIn: String { tr("Log in") }
    public static var cancel: String { tr("Cancel") }
    public static var load: String { tr("Load") }
    public static var retry: String { tr("Retry") }
    public static var tryNow: String { tr("Try now") }
    public static var addAccount: String { tr("Add account") }
    public static var shortcuts: String { tr("Keyboard shortcuts") }
    public static var about: String { tr("About Kalij") }
    public static var quit: String { tr("Quit") }
    public static var close: String { tr("Close") }

    // States of messages
    public static var waiting: String { tr("Waiting") }
    public static var sending: String { tr("Sending") }
    public static var sent: String { tr("Sent") }
    public static var delivered: String { tr("Delivered") }
    public static var read: String { tr("Read") }
    public static var notSent: String { tr("Not sent") }
    public static func notSent(why: String) -> String { tr("Not sent: {reason}", ["reason": why]) }
    public static var unknown: String { tr("Unknown whether it arrived") }

    // Messages
    public static var removed: String { tr("Message removed") }
    public static var unreadable: String { tr("This message was encrypted and cannot be read here") }
    public static var edited: String { tr("Edited") }
    public static var cut: String { tr("Long message: only its beginning is shown") }
    public static func file(_ name: String) -> String { name.isEmpty ? tr("File") : tr("File {name}", ["name": name]) }
    public static func reactions(_ emoji: String) -> String { tr("Reactions: {emoji}", ["emoji": emoji]) }
    public static func own(_ text: String) -> String { tr("You: {text}", ["text": text]) }
    public static func said(_ author: String, _ text: String) -> String {
        tr("{author}: {text}", ["author": author, "text": text])
    }
    public static func answers(_ author: String, _ text: String) -> String {
        tr("answers {author}: {text}", ["author": author, "text": text])
    }
    public static func answersYou(_ text: String) -> String { tr("answers you: {text}", ["text": text]) }
    public static var answersUnknown: String { tr("answers a message that is not here") }
    public static func found(_ text: String) -> String { tr("message: {text}", ["text": text]) }
    public static func results(_ count: Int) -> String { tr("{n} result", "{n} results", count) }
    public static func arrived(_ count: Int) -> String { tr("{n} message", "{n} messages", count) }

    // Rows
    public static func draft(_ text: String) -> String { tr("Draft: {text}", ["text": text]) }
    public static func unread(_ count: Int) -> String {
        count >= 1000 ? tr("1000 or more unread") : tr("{n} unread", "{n} unread", count)
    }
    public static func badge(_ count: Int) -> String { count >= 1000 ? "999+" : "\(count)" }
    public static func account(_ jid: String) -> String { tr("account {address}", ["address": jid]) }
    public static var muted: String { tr("muted") }
    public static var pinned: String { tr("pinned") }
    public static var hidden: String { tr("hidden") }
    public static var newMessages: String { tr("New messages") }
    public static var today: String { tr("Today") }
    public static var yesterday: String { tr("Yesterday") }
    public static var gapMissing: String { tr("Messages are missing here") }
    public static var gapLost: String { tr("Messages are missing here, and the server has them no more") }
    public static var gapUnread: String { tr("Newer messages could not be fetched yet") }
    public static var loadingOlder: String { tr("Loading older messages") }
    public static var olderFailed: String { tr("Older messages could not be loaded") }
    public static var conversationBegins: String { tr("The beginning of the conversation") }
    public static var older: String { tr("Older messages are on the server") }
    public static func messagesWith(_ name: String) -> String { tr("Conversation with {name}", ["name": name]) }
    public static var typing: String { tr("is writing …") }

    // Empty pages
    public static var noConversations: String { tr("No conversations yet") }
    public static var noConversationsHint: String {
        tr("One is here as soon as something is written in it. Begin one with the button at the top, or press Ctrl+N")
    }
    public static var nothingFound: String { tr("Nothing found") }
    public static var nothingOpen: String { tr("No conversation is open") }
    public static var nothingOpenHint: String { tr("Choose one from the list, or begin one with Ctrl+N") }
    public static var noMessages: String { tr("No messages yet") }
    public static var toLatest: String { tr("Newest messages") }

    // First start
    public static var welcome: String { tr("Welcome to Kalij") }
    public static var welcomeHint: String {
        tr("Enter the address that a provider has given you, such as juliet@example.org")
    }
    public static var addressForm: String { tr("name@example.org") }
    public static var serverForm: String { tr("Optional") }
    public static var serverHint: String { tr("Only if your provider has told you one, such as xmpp.example.org:5222") }
    public static var loggingIn: String { tr("Logging in …") }
    public static func writesAs(_ account: String) -> String { tr("You write as {address}", ["address": account]) }

    // Problems of a login
    public static var badAddress: String { tr("This is no address. An address looks like juliet@example.org") }
    public static var noPassword: String { tr("Enter the password") }
    public static var badServer: String { tr("The server is written as host:port, such as example.org:5222") }
    public static var wrongPassword: String {
        tr("The address or the password is wrong. Check both, and try again")
    }
    public static func unknownServer(_ domain: String) -> String {
        tr("There is no server {domain}. Check the part of the address after the @", ["domain": domain])
    }
    public static func unknownName(_ server: String) -> String {
        tr("There is no server {domain}. Check the name", ["domain": server])
    }
    /// - Parameter server: the server that the user has named; nil if it follows from an address.
    public static func noService(_ domain: String, _ server: String?) -> String {
        guard let server else {
            return tr("{domain} offers no chat. Check the part of the address after the @", ["domain": domain])
        }
        return tr("{domain} offers no chat. Check the name", ["domain": server])
    }
    public static var noNetwork: String { tr("There is no network. Check the connection, and try again") }
    public static func unreachable(_ domain: String) -> String {
        tr(
            "The server {domain} does not answer. Check the connection, or the name of the server, and try again",
            ["domain": domain])
    }
    public static func certificate(_ domain: String, _ reason: String) -> String {
        tr(
            "The certificate of {domain} cannot be trusted: {reason}. Your password was not sent. Ask your provider",
            ["domain": domain, "reason": reason])
    }
    public static func fingerprint(_ digits: String) -> String {
        tr("The fingerprint of what it shows (SHA-256) is {fingerprint}", ["fingerprint": digits])
    }
    public static func noTLS(_ domain: String) -> String {
        tr("No encrypted connection to {domain} is possible. Your password was not sent", ["domain": domain])
    }
    public static var tryLater: String { tr("The server cannot log anybody in now. Try again later") }
    public static func loginFailed(_ reason: String) -> String { tr("The login failed: {reason}", ["reason": reason]) }
    public static func storageFailed(_ reason: String) -> String {
        tr("The account cannot be stored: {reason}", ["reason": reason])
    }

    // The state banner
    public static var connecting: String { tr("Connecting …") }
    public static func connecting(_ account: String) -> String { tr("{address}: connecting …", ["address": account]) }
    public static func offline(since: String) -> String {
        tr("Offline since {time}. Messages wait and are sent later", ["time": since])
    }
    public static func offline(since: String, why: String) -> String {
        tr("Offline since {time}: {reason}. Messages wait and are sent later", ["time": since, "reason": why])
    }
    /// - Parameter state: the description of the account's state.
    public static func account(_ account: String, _ state: String) -> String {
        tr("{address}: {state}", ["address": account, "state": state])
    }
    public static func refused(_ account: String) -> String {
        tr("The server refuses the login of {address}", ["address": account])
    }
    public static func storage(_ reason: String) -> String {
        tr("Nothing can be stored, so nothing is received: {reason}", ["reason": reason])
    }
    public static var elsewhere: String { tr("Another program keeps your accounts online") }
    public static var migrating: String {
        tr("Bringing the stored messages to this version. Nothing is lost if that is interrupted")
    }
    public static func cannotStart(_ reason: String) -> String {
        tr("Kalij cannot go online: {reason}", ["reason": reason])
    }
    public static func notAccepted(_ reason: String) -> String { tr("Not accepted: {reason}", ["reason": reason]) }

    // Notifications, and the process without a window
    public static var newMessage: String { tr("New message") }
    public static var open: String { tr("Open") }
    public static var reply: String { tr("Reply") }
    public static var markAsRead: String { tr("Mark as read") }
    public static var background: String { tr("Receive messages when the window is closed") }
    public static var goOnReceiving: String { tr("Go on receiving messages?") }
    public static var goOnReceivingHint: String {
        tr("Kalij then notifies you without a window, also when you log in to this computer. Ctrl+Q ends it")
    }
    public static var goOn: String { tr("Go on receiving") }

    // Keyboard
    public static var keys: [(keys: String, what: String)] {
        [
            ("Return", tr("Open a conversation; send a message")), ("Shift+Return", tr("New line")),
            ("Escape", tr("Back to the list")), ("F6", tr("Next region")),
            ("Alt+Up, Alt+Down", tr("Previous and next conversation")),
            ("Ctrl+K, Ctrl+F", tr("Search in names and messages")),
            ("Ctrl+N", newConversation), ("F10", menu), ("Ctrl+C", tr("Copy the selected message")),
        ] + groupKeys + actionKeys + [("Ctrl+,", settings), ("Ctrl+?", shortcuts), ("Ctrl+Q", quit)]
    }
}
