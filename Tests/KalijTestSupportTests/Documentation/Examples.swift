// swift-format-ignore-file
// Made by Scripts/documentation-examples from the documentation. Change that, and run it again.
import KalijClient
import KalijTestSupport
import Testing

@Suite("Examples of the documentation")
struct Examples {
    @Test("KalijTestSupport.md") func articleKalijTestSupport() throws {
#sourceLocation(file: "Sources/KalijTestSupport/KalijTestSupport.docc/KalijTestSupport.md", line: 15)
enum Counting: Feature, StoredMessageObserver {
    static let name = "org.example.counting"

    static let migrations = [
        Migration(
            "org.example.counting/1",
            "CREATE TABLE org_example_counting(sender TEXT PRIMARY KEY, count INTEGER NOT NULL)")
    ]

    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        guard message.direction == .incoming, let body = message.body, try !step.isHistory(incoming) else { return }
        let sender = incoming.sender.bare
        let count = try step.tables.first(
            "INSERT INTO org_example_counting VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count",
            [.text(sender.description)]
        ) { $0.integer() }
        try step.accept("\(count ?? 0): \(body)", to: sender)
    }
}
#sourceLocation()
#sourceLocation(file: "Sources/KalijTestSupport/KalijTestSupport.docc/KalijTestSupport.md", line: 39)
let bot = try TestAccount(features: [Counting.self])
let first = try bot.receive("hello", from: "romeo@example.net/orchard")
#expect(first.map(\.body) == ["1: hello"])
#expect(first.map { $0["to"] } == ["romeo@example.net"])
#sourceLocation()
#sourceLocation(file: "Sources/KalijTestSupport/KalijTestSupport.docc/KalijTestSupport.md", line: 48)
for (number, kill) in TestAccount.Kill.allCases.enumerated() {
    let answers = try bot.receive("again", from: "romeo@example.net/orchard", killed: kill)
    #expect(answers.map(\.body) == ["\(number + 2): again"])
}
#expect(bot.kills == 3)
#sourceLocation()
#sourceLocation(file: "Sources/KalijTestSupport/KalijTestSupport.docc/KalijTestSupport.md", line: 58)
let counted = try bot.perform { step in
    try step.tables.first("SELECT count FROM org_example_counting") { $0.integer() }
}
#expect(counted == 4)
let stored = try HistoryReader(bot.directory).messages(after: 0, of: bot.account)
#expect(stored.count == 8)
#sourceLocation()
    }

}
