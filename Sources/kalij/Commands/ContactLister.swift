import KalijAddress
import KalijClient
import KalijText

/// The common part of the commands that list contacts.
struct ContactLister {
    private let arguments: Arguments
    private let shared: SharedOptions

    init(_ arguments: Arguments, _ shared: SharedOptions) { (self.arguments, self.shared) = (arguments, shared) }

    /// A reader of the contacts, and the account.
    func open() throws -> (Contacts, Account) {
        let jid = try arguments.value("--account").map { try JID($0) }
        let database = try shared.directory.read()
        return (Contacts(database), try AccountTable(database).account(jid, in: shared.directory))
    }

    /// Prints `events` with their times, in the form of the events of `kalij run`.
    static func show<Event: EventContent>(
        _ events: [(at: Int64, Event)], of account: Account, _ shared: SharedOptions, line: (Event) -> PrintedText
    ) throws -> ExitStatus {
        for (at, event) in events {
            let record = EventRecord(Event.name, account: account.jid.description, at: at, event.fields)
            Output.line(shared.json ? try JSONLine.of(record) : line(event))
        }
        return events.isEmpty ? .nothing : .done
    }
}

/// A contact with its clients, in JSON.
struct ContactRecord: Encodable {
    private let contact: EventRecord
    private let clients: [EventRecord]

    private enum CodingKeys: String, CodingKey { case clients }

    init(_ contact: Contact, _ profile: Profile?, _ clients: [ContactPresence], of account: Account) {
        let said: [EventField] = .present(.optional(.nick, profile?.name), .optional(.avatar, profile?.avatar))
        self.contact = EventRecord(
            ContactChanged.name, account: account.jid.description, at: Clock.system.now(), contact.fields + said)
        self.clients = clients.map { EventRecord($0.fields) }
    }

    func encode(to encoder: any Encoder) throws {
        try contact.encode(to: encoder)
        guard !clients.isEmpty else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(clients, forKey: .clients)
    }
}
