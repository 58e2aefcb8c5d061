// swift-format-ignore-file
// Made by Scripts/documentation-examples from the documentation. Change that, and run it again.
import KalijAddress
import KalijClient
import KalijCoordination
import Testing

@Suite("Examples of the documentation")
struct Examples {
    // Compiled, not run.
    private func articleAppAndExtension() async throws {
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/AppAndExtension.md", line: 30)
guard let directory = AccountDirectory(UserData("example")) else { return }
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/AppAndExtension.md", line: 39)
let app = try await Engine.start(role: .main, in: directory)
let showing = Task {
    for await event in app.events {
        switch event.content {
        case is Online: print("online")
        case let stored as MessageStored: print(stored.message.from, stored.message.body ?? "")
        case is EventsDropped: print("to be read from the database again")
        default: break
        }
    }
}
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/AppAndExtension.md", line: 61)
try await app.prepareForFreeze()
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/AppAndExtension.md", line: 68)
app.didThaw()
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/AppAndExtension.md", line: 80)
let wake = try await Engine.start(role: .wake, in: directory, options: .init(budget: 25))
for await notification in wake.notifications {
    switch notification.kind {
    case .show: print("show", notification.identifier, notification.sender, notification.body)
    case .withdraw: print("remove", notification.identifier)
    }
}
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/AppAndExtension.md", line: 101)
wake.pushArrived()
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/AppAndExtension.md", line: 107)
switch try await wake.waitUntilEnded() {
case .stopped, .frozen: print("everything was fetched")
case .handedOver: print("the application drives, and was told of the push")
case .unfinished: print("there is more: the user is to open the application")
}
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/AppAndExtension.md", line: 123)
let message = try directory.share("Look at this", to: try JID("romeo@example.org"))
print(message.state == .queued)
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/AppAndExtension.md", line: 131)
let upload = try Attachments(directory).send("balcony.jpg", to: try JID("romeo@example.org"), text: "Look")
print(upload.name, upload.size)
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/AppAndExtension.md", line: 139)
let sending = try await Engine.start(role: .background, in: directory, options: .init(budget: 30))
try await sending.waitUntilEnded()
#sourceLocation()
    _ = app
    _ = showing
    _ = wake
    _ = message
    _ = upload
    _ = sending
    }

    // Compiled, not run.
    private func articleApplicationFeature(directory: AccountDirectory) async throws {
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/ApplicationFeature.md", line: 16)
enum Counting: Feature, StoredMessageObserver {
    static let name = "org.example.counting"

    static let migrations = [
        Migration(
            "org.example.counting/1",
            "CREATE TABLE org_example_counting(sender TEXT PRIMARY KEY, count INTEGER NOT NULL)")
    ]

    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        guard message.direction == .incoming, message.type == "chat", let body = message.body,
            try !step.isHistory(incoming)
        else { return }
        let sender = incoming.sender.bare
        let count = try step.tables.first(
            "INSERT INTO org_example_counting VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count",
            [.text(sender.description)]
        ) { $0.integer() }
        try step.accept("\(count ?? 0): \(body.prefix(100))", to: sender)
    }
}

var options = Engine.Options()
options.features = [Counting.self]
options.stopsOnSignals = true
let engine = try Engine(directory, options: options) { _ in }
try engine.run()
#sourceLocation()
    _ = engine
    }

    // Compiled, not run.
    private func articleChatInAnAfternoon() async throws {
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/ChatInAnAfternoon.md", line: 16)
func logIn(
    _ address: JID, password: String, server: ServerSettings = .init(), in folder: String
) throws -> AccountDirectory {
    let directory = AccountDirectory(folder)
    if !directory.exists { try directory.logIn(address, password: password, resource: "bot", server: server) }
    return directory
}
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/ChatInAnAfternoon.md", line: 31)
func letIn(_ engine: RunningEngine) async throws {
    let account = try Conversations(engine.directory).account
    for request in try Contacts(engine.directory).requests(of: account) {
        try await engine.accept(AcceptRequest(request.jid))
        try await engine.accept(AddContact(request.jid))
        try await engine.accept(FetchProfile(request.jid))
    }
}
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/ChatInAnAfternoon.md", line: 47)
func answerUnread(_ engine: RunningEngine) async throws {
    let conversations = try Conversations(engine.directory)
    let contacts = try Contacts(engine.directory)
    for conversation in try conversations.all() where conversation.unread > 0 {
        let contact = try JID(conversation.jid)
        let name = try contacts.profile(of: contact, for: conversations.account)?.name ?? conversation.jid
        for message in try conversations.unread(with: contact) {
            try await engine.accept(React(.row(message.id), ["👀"]))
            // Two bots would answer each other's answers for ever.
            if let text = message.body, !message.messageID.isEmpty, message.repliesTo == nil {
                try await engine.accept(
                    "\(name), you wrote \(text.count) characters.", to: contact,
                    id: message.stanzaID.map { "answer-\($0)" }, answering: .row(message.id))
            }
            try await engine.accept(MarkRead(contact, through: .row(message.id)))
        }
    }
}
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/ChatInAnAfternoon.md", line: 72)
func chat(in directory: AccountDirectory) async throws {
    let engine = try await Engine.start(role: .main, in: directory)
    try await letIn(engine)
    try await answerUnread(engine)
    for await event in engine.events {
        switch event.content {
        case is RequestChanged: try await letIn(engine)
        case is UnreadChanged, is EventsDropped: try await answerUnread(engine)
        case let changed as MessageChanged:
            for reaction in changed.message.reactions { print(reaction.author, reaction.emoji.joined()) }
        case let changed as MessageStateChanged where changed.message.state == .displayed:
            print("read:", changed.message.body ?? "")
        default: break
        }
    }
}
#sourceLocation()
    }

    // Compiled, not run.
    private func articleGroupsAndPush(directory: AccountDirectory, account: Account, romeo: JID, service: JID, deviceToken: String) async throws {
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/GroupsAndPush.md", line: 14)
let engine = try await Engine.start(role: .main, in: directory)
try await engine.accept(CreateRoom(title: "Balcony scene", inviting: [romeo]))
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/GroupsAndPush.md", line: 24)
for room in try Rooms(directory).rooms(of: account) where room.state == "joined" {
    print(room.jid, room.name ?? "", room.isGroup)
}
#sourceLocation()
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/GroupsAndPush.md", line: 40)
try await engine.accept(EnablePush(service, node: deviceToken, module: "org.example.chat"))
#sourceLocation()
    _ = engine
    }

    // Compiled, not run.
    private func articleKalijClient() async throws {
#sourceLocation(file: "Sources/KalijClient/KalijClient.docc/KalijClient.md", line: 11)
let directory = AccountDirectory("/home/juliet/.local/share/example")
try directory.logIn(try JID("juliet@example.org"), password: "secret", resource: "balcony")

let engine = try await Engine.start(role: .main, in: directory)
try await engine.accept("Wherefore art thou?", to: try JID("romeo@example.org"))
for await event in engine.events {
    if let message = (event.content as? MessageStored)?.message { print(message.from, message.body ?? "") }
}
#sourceLocation()
    _ = directory
    _ = engine
    }

}
