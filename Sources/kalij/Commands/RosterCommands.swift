import KalijAddress
import KalijClient
import KalijText

enum RosterCommand: Command {
    static let name = "roster"
    static let usage = "[--blocked] [--account JID]"
    static let summary = "list contacts"
    static let details = """
        Prints the contacts with their names, groups and subscriptions, and the clients that are there in the present session. A
        subscription says who sees whose presence: none, to (you see the contact's), from (the contact sees yours), both. With
        --blocked the blocked addresses are printed instead. Reads the database only: the list is the one that your server told
        last. Exit status 1 if the list is empty.

        With --json each line is a contact; `nick` and `avatar` are the name and the SHA-1 of the picture that the contact has
        chosen, if known (`kalij profile`):
          {"event":"contact","account":"juliet@example.org","at":"...","contact":"romeo@example.net",
           "name":"Romeo","nick":"Romeo M.","avatar":"0beec7...","groups":["Friends"],"subscription":"both",
           "clients":[{"from":"romeo@example.net/orchard","show":"away","status":"in the garden",
           "priority":5}]}
        or, with --blocked, {"event":"blocked","account":"...","at":"...","address":"tybalt@example.com","blocked":true}.
        """
    static let options: [Arguments.Option] = [
        .flag("--blocked", "list blocked addresses"),
        .value("--account", "JID", "list this account's, if several are stored"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        let (reader, account) = try ContactLister(arguments, shared).open()
        guard !arguments.has("--blocked") else {
            let now = Clock.system.now()
            let blocked = try reader.blocked(of: account).map { (at: now, BlockedChanged(jid: $0, isBlocked: true)) }
            return try ContactLister.show(blocked, of: account, shared) { "\($0.jid)" }
        }
        let contacts = try reader.contacts(of: account)
        for contact in contacts {
            let clients = try reader.presence(of: contact.jid, for: account)
            let profile = try reader.profile(of: contact.jid, for: account)
            if shared.json {
                Output.line(try JSONLine.of(ContactRecord(contact, profile, clients, of: account)))
            } else {
                var line = contact.line
                if let name = profile?.name { line += ", calls itself \"\(name)\"" }
                Output.line(line)
                for client in clients { Output.line("    \(client.line)") }
            }
        }
        return contacts.isEmpty ? .nothing : .done
    }
}

enum RequestsCommand: Command {
    static let name = "requests"
    static let usage = "[--account JID]"
    static let summary = "list requests to see when you are online"
    static let details = """
        Prints who asks to see when you are online, oldest first, until `kalij accept` or `kalij deny` answers. Reads the database
        only. Exit status 1 if nobody asks.

        With --json each line is a request, with the time at which it came:
          {"event":"request","account":"juliet@example.org","at":"...","contact":"romeo@example.net",
           "status":"It's me"}
        """
    static let options: [Arguments.Option] = [
        .value("--account", "JID", "list this account's, if several are stored")
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...0)
        let (reader, account) = try ContactLister(arguments, shared).open()
        let requests = try reader.requests(of: account).map {
            (at: $0.at, RequestChanged(request: $0, isClosed: false))
        }
        return try ContactLister.show(requests, of: account, shared) { $0.request.line }
    }
}
