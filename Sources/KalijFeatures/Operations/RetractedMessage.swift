import KalijCore
import KalijStore

/// A message that was retracted. A server may erase it from its archive (XEP-0424; measured: ejabberd 24.12).
struct RetractedMessage {
    let step: Step
    let row: Int64

    /// A message of the user's has arrived if the server has acknowledged `retraction`; it need not be in the archive.
    func settle(by retraction: Message) throws {
        guard retraction.direction == .outgoing, retraction.state?.isWithServer ?? false,
            let message = try Message.load(row, from: step.database), message.state == .sent,
            message.type != "groupchat"
        else { return }
        try MessageWriter(step: step).acknowledged([row])
    }
}
