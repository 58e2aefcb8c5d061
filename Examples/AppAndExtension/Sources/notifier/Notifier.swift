import Common
import KalijClient

/// The notification extension: the system starts the extension for each push, for thirty seconds at most.
@main
enum Notifier {
    static func main() async {
        await Common.run { words in
            let engine = try await Engine.start(
                role: .wake, in: try Common.directory(words), options: .init(budget: 25))
            // Asking for the next notification says that this notification was shown. If the process dies before, the
            // next process shows the notification again.
            for await notification in engine.notifications {
                let word = notification.kind == .show ? "show" : "withdraw"
                Common.say("\(word) \(notification.identifier) \(notification.conversation): \(notification.body)")
            }
            switch try await engine.waitUntilEnded() {
            case .handedOver: Common.say("the application is running, and takes care of it")
            case .unfinished: Common.say("there is more: open the application")
            case .stopped, .frozen: break
            }
        }
    }
}
