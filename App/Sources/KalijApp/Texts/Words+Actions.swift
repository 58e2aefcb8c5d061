/// Texts of the actions on messages.
extension Words {
    public static var sendAgain: String { tr("Send again") }
    public static var actions: String { tr("Actions") }
    public static var emoji: String { tr("Emoji") }
    public static var reaction: String { tr("Reaction") }
    public static var otherEmoji: String { tr("Other emoji …") }
    public static var emojiHint: String { tr("Type the name of an emoji, then Tab to those found") }
    public static var react: String { tr("React …") }
    public static var correct: String { tr("Correct") }
    public static var copyText: String { tr("Copy text") }
    public static var whoHasRead: String { tr("Who has read this …") }
    public static var whoHasReadTitle: String { tr("Who has read this") }
    static var readByAll: String { tr("Read by all") }
    static func readBy(_ readers: Int, of members: Int) -> String {
        tr("Read by {n} of {all}", ["n": "\(readers)", "all": "\(members)"])
    }
    static func haveRead(_ names: String) -> String { tr("Have read it: {names}", ["names": names]) }
    static func haveNotRead(_ names: String) -> String {
        tr("Have not said that they have read it (not everybody tells): {names}", ["names": names])
    }
    static func hasRead(_ name: String) -> String { tr("{name} has read it.", ["name": name]) }
    static func hasArrived(_ name: String) -> String {
        tr(
            "It has arrived. {name} has not said that they have read it: not everybody tells others what they have read.",
            ["name": name])
    }
    static func hasNotArrived(_ name: String) -> String {
        tr(
            "Your server has it. No device of {name} has said that it has arrived: it may be switched off, or not tell.",
            ["name": name])
    }
    public static var retractForAll: String { tr("Retract for everyone …") }
    public static var retract: String { tr("Retract") }
    public static var deleteHere: String { tr("Delete here") }
    public static var undo: String { tr("Undo") }
    public static var undone: String { tr("Undone") }
    public static var undoHint: String { tr("Ctrl+Z undoes it") }
    public static func deleted(_ count: Int) -> String {
        tr("{n} message deleted here", "{n} messages deleted here", count)
    }
    public static var retractQuestion: String { tr("Retract this message for everyone?") }
    public static func retractHint(_ text: String) -> String {
        tr("“{text}” is removed at the other side too. It may have been read already.", ["text": text])
    }
    public static var notPossibleNow: String { tr("This message has changed: that is not possible any more") }
    static func correcting(_ text: String) -> String { tr("Correct the message: {text}", ["text": text]) }
    public static var correctionEnded: String { tr("Correction ended") }
    public static func replyTo(_ author: String, _ text: String) -> String {
        tr("Reply to {author}: {text}", ["author": author, "text": text])
    }
    public static func replyToOwn(_ text: String) -> String { tr("Reply to your message: {text}", ["text": text]) }
    public static func ownReaction(_ emoji: String) -> String { tr("{emoji} yours", ["emoji": emoji]) }
    public static func alsoOwn(_ emoji: String) -> String { tr("{emoji}, also yours", ["emoji": emoji]) }
    public static func removeReaction(_ emoji: String) -> String { tr("Remove {emoji}", ["emoji": emoji]) }

    /// The keys of actions, for the table of shortcuts.
    static var actionKeys: [(keys: String, what: String)] {
        [
            (tr("Menu, Shift+F10"), tr("Actions on the selected message")),
            ("Return", tr("Open the selected file or address, or send the message again")),
            ("Ctrl+R", tr("Reply to the selected message")), ("Ctrl+.", tr("React to the selected message")),
            ("Ctrl+E", tr("Correct the selected message")),
            ("Up", tr("In an empty text: correct the last own message")),
            ("Delete, Ctrl+Z", tr("Delete the selected message here; undo")),
            ("Shift+Delete", tr("Retract the selected message for everyone")),
        ]
    }
}
