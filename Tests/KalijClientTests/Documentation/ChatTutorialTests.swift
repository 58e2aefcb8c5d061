import Foundation
import KalijAddress
import KalijLab
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

extension ReadmeTests {
    /// The article "A chat in an afternoon", word for word, with real servers.
    @Suite struct ChatTutorialTests {
        // snippet
        static func logIn(
            _ address: JID, password: String, server: ServerSettings = .init(), in folder: String
        ) throws -> AccountDirectory {
            let directory = AccountDirectory(folder)
            if !directory.exists { try directory.logIn(address, password: password, resource: "bot", server: server) }
            return directory
        }
        // end

        // snippet
        static func letIn(_ engine: RunningEngine) async throws {
            let account = try Conversations(engine.directory).account
            for request in try Contacts(engine.directory).requests(of: account) {
                try await engine.accept(AcceptRequest(request.jid))
                try await engine.accept(AddContact(request.jid))
                try await engine.accept(FetchProfile(request.jid))
            }
        }
        // end

        // snippet
        static func answerUnread(_ engine: RunningEngine) async throws {
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
        // end

        // snippet
        static func chat(in directory: AccountDirectory) async throws {
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
        // end

        private static let article = "Sources/KalijClient/KalijClient.docc/ChatInAnAfternoon.md"

        @Test("the article's code is the code that runs")
        func sameCode() throws {
            let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            let article = try String(contentsOf: root.appendingPathComponent(Self.article), encoding: .utf8)
            let blocks = article.components(separatedBy: "```swift\n").dropFirst()
                .compactMap { $0.components(separatedBy: "\n```").first }
            let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
            let parts = source.components(separatedBy: "        // snippet\n").dropFirst()
                .compactMap { $0.components(separatedBy: "\n        // end").first }
                .map { part in
                    part.split(separator: "\n", omittingEmptySubsequences: false).map { $0.dropFirst(8) }
                        .joined(separator: "\n").dropFirst("static ".count)
                }
            #expect(blocks.count == 4)
            // Longer lines are broken elsewhere; the words are the same.
            func words(_ text: some StringProtocol) -> String {
                text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            #expect(blocks.map { words($0) } == parts.map { words($0) })
        }

        @Test(
            "a contact is let in, answered, reacted to and told that it was read: each message once, also by a bot that begins again",
            arguments: ServerKind.allCases)
        func chats(_ kind: ServerKind) async throws {
            let laboratory = try Laboratory()
            defer { laboratory.close() }
            let server = try await startedServer(kind, in: laboratory, users: ["bot", "bob"])
            let settings = ServerSettings(
                override: HostAndPort("127.0.0.1:\(server.port)"), caFile: server.certificateAuthority)
            func logIn(_ user: String) throws -> AccountDirectory {
                try Self.logIn(
                    JID("\(user)@localhost"), password: "secret", server: settings, in: laboratory.path(user))
            }
            let (bot, bob) = (try logIn("bot"), try logIn("bob"))
            let botJID = try JID("bot@localhost")
            let engine = try await Engine.start(role: .main, in: bob)
            let naming = try await engine.accept(SetProfile(name: "Bob"))
            try await wait("bob has a name") {
                try HistoryReader(bob.read()).outcome(of: naming, by: Conversations(bob).account) == .done
            }
            var chat = Task { try await Self.chat(in: bot) }
            try await engine.accept(AddContact(botJID))
            let conversations = { try Conversations(bob) }
            try await wait("both are contacts") {
                try Contacts(bob).contacts(of: conversations().account).first?.subscription == .both
            }
            try await wait("the bot knows the name") {
                try Contacts(bot).profile(of: JID("bob@localhost"), for: Conversations(bot).account)?.name == "Bob"
            }
            for text in ["Hi", "Hello"] { try await engine.accept(text, to: botJID) }
            try await wait("all is answered and read") { try isAnswered(2, conversations()) }
            let answers = try conversations().messages(with: botJID, limit: 100).filter { $0.direction == .incoming }
            #expect(answers.map(\.body) == ["Bob, you wrote 2 characters.", "Bob, you wrote 5 characters."])
            let own = try conversations().messages(with: botJID, limit: 100).filter { $0.direction == .outgoing }
            #expect(answers.map(\.repliesTo) == own.map(\.originID))
            #expect(own.allSatisfy { $0.reactions == [Reaction(author: "bot@localhost", emoji: ["👀"])] })

            // As if killed after the answers, and before anything was marked: the next process answers all again.
            chat.cancel()
            _ = try? await chat.value
            try await wait("nobody drives") { try StatusReader(bot, bot.read()).driver() == nil }
            try bot.open(.machine, role: .share, now: Clock.system.now()).execute("DELETE FROM displayed")
            #expect(try Conversations(bot).conversation(with: JID("bob@localhost")).unread == 2)
            chat = Task { try await Self.chat(in: bot) }
            try await engine.accept("And now?", to: botJID)
            try await wait("the third is answered") { try isAnswered(3, conversations()) }
            // Another answer to the first two would have come before this.
            try await engine.accept("And then?", to: botJID)
            try await wait("the fourth is answered") { try isAnswered(4, conversations()) }
            #expect(
                try conversations().messages(with: botJID, limit: 100).filter { $0.direction == .incoming }.count == 4)
            chat.cancel()
            _ = try? await chat.value
            try await engine.stop()
        }

        private func isAnswered(_ count: Int, _ conversations: Conversations) throws -> Bool {
            let messages = try conversations.messages(with: JID("bot@localhost"), limit: 100)
            return messages.filter { $0.direction == .incoming }.count >= count
                && messages.filter { $0.direction == .outgoing }.allSatisfy {
                    $0.state == .displayed && !$0.reactions.isEmpty
                }
        }

        private func wait(_ what: String, until isTrue: () async throws -> Bool) async throws {
            for _ in 0..<Int(hangLimit * 20) {
                if try await isTrue() { return }
                try await sleep(for: .milliseconds(50))
            }
            Issue.record("never true: \(what)")
        }
    }
}
