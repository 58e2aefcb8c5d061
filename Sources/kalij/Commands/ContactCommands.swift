import KalijAddress
import KalijClient

enum AddCommand: Command {
    static let name = "add"
    static let usage = "JID [--name N] [--group G] [--account JID] [--queue-only | --wait]"
    static let summary = "add a contact"
    static let details = """
        Adds JID to your contacts, or changes the name and the group of a contact. Your server asks JID to let you see when JID is
        online; JID may see when you are online, without being asked about.

        \(IntentRunner.details)

        example:
          kalij add romeo@example.net --name Romeo --group Friends
        """
    static let options: [Arguments.Option] =
        [.value("--name", "N", "call the contact N"), .value("--group", "G", "put the contact into the group G")]
        + IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        return try IntentRunner(arguments, shared).run(
            AddContact(
                try JID(arguments.operands[0]), name: arguments.value("--name"),
                groups: arguments.value("--group").map { [$0] }))
    }
}

enum RemoveCommand: Command {
    static let name = "remove"
    static let usage = "JID [--account JID] [--queue-only | --wait]"
    static let summary = "remove a contact"
    static let details = """
        Removes JID from your contacts. Neither of you sees any more when the other is online. Messages stay.

        \(IntentRunner.details)
        """
    static let options = IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        return try IntentRunner(arguments, shared).run(RemoveContact(try JID(arguments.operands[0])))
    }
}

enum AcceptCommand: Command {
    static let name = "accept"
    static let usage = "JID [--account JID] [--queue-only | --wait]"
    static let summary = "let somebody see when you are online"
    static let details = """
        Answers the request of JID, as listed by `kalij requests`: JID sees when you are online. `kalij add` makes JID a contact.

        \(IntentRunner.details)
        """
    static let options = IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        return try IntentRunner(arguments, shared).run(AcceptRequest(try JID(arguments.operands[0])))
    }
}

enum DenyCommand: Command {
    static let name = "deny"
    static let usage = "JID [--account JID] [--queue-only | --wait]"
    static let summary = "do not let somebody see when you are online"
    static let details = """
        Answers the request of JID, as listed by `kalij requests`: JID does not see when you are online. JID may ask again; `kalij
        block` keeps JID away.

        \(IntentRunner.details)
        """
    static let options = IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        return try IntentRunner(arguments, shared).run(DenyRequest(try JID(arguments.operands[0])))
    }
}
