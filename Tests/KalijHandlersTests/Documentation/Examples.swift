// swift-format-ignore-file
// Made by Scripts/documentation-examples from the documentation. Change that, and run it again.
import FoundationEssentials
import KalijAddress
import KalijClient
import KalijHandlers
import KalijStore
import KalijXML
import Testing

@Suite("Examples of the documentation")
struct Examples {
    @Test("CallbacksThatSurvive.md") func articleCallbacksThatSurvive() throws {
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 12)
var waiting: [String: (String) -> Void] = [:]
var greeting = ""
let language = "en"

waiting["question-1"] = { answer in greeting = "\(answer) (\(language))" }

waiting.removeValue(forKey: "question-1")?("Good morrow")
#expect(greeting == "Good morrow (en)")
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 34)
final class App {
    var log: [String] = []
    var registry = HandlerRegistry<App>()
}

struct Greeted: Handler {
    static let name = "example.greeted"
    var language: String
    var times: Int?

    func call(_ answer: String, in app: App) {
        app.log.append("\(answer) (\(language))")
    }
}
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 65)
let stored = try StoredHandler(Greeted(language: "en"))
#expect(stored.name == "example.greeted")
#expect(stored.bytes.count == 31)
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 74)
let app = App()
app.registry = try HandlerRegistry<App>([Greeted.self])

try app.registry.call(StoredHandler(bytes: stored.bytes), "Good morrow", in: app)
#expect(app.log == ["Good morrow (en)"])
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 84)
try app.registry.call(stored, "Guten Morgen", overriding: ["language": "de"], in: app)
#expect(app.log.last == "Guten Morgen (de)")
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 95)
struct Fetched: Handler {
    static let name = "example.fetched"
    let then: Callback<App, String>
    let at: Date
    func call(_ words: [String], in app: App) throws {
        try app.registry.call(then, words.joined(separator: " "), in: app)
    }
}

let fetched = Fetched(then: try Callback(Greeted(language: "it")), at: Date(timeIntervalSince1970: 0))
try fetched.call(["Buon", "giorno"], in: app)
#expect(app.log.last == "Buon giorno (it)")
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 113)
var asking = Greeted(language: "fr")
let copy = try StoredHandler(asking)
asking.language = "nl"
try app.registry.call(copy, "Bonjour", in: app)
#expect(app.log.last == "Bonjour (fr)")
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 126)
struct Drawer {
    let name: String
    let app: LargeApp
}

final class LargeApp {
    var log: [String] = []
    var letters: Drawer { Drawer(name: "letters", app: self) }
}

struct LetterKept: Handler {
    static let name = "letters.kept"
    static var instance: KeyPath<LargeApp, Drawer> { \.letters }
    let number: Int
    func call(_ isSigned: Bool, in drawer: Drawer) {
        drawer.app.log.append("\(drawer.name): \(number)\(isSigned ? ", signed" : "")")
    }
}

let large = LargeApp()
try HandlerRegistry<LargeApp>([LetterKept.self]).call(StoredHandler(LetterKept(number: 4711)), true, in: large)
#expect(large.log == ["letters: 4711, signed"])
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 160)
struct Counted: Handler {
    static let name = "example.counted"
    static let version = 2
    var count: Int
    var unit: String

    func call(_: Void, in app: App) { app.log.append("\(count) \(unit)") }

    static func migrate(_ values: inout BoundValues, from version: Int) throws {
        // The first version had the number as a text, and meant pieces.
        try values.bind("count", Int(values.value("number", as: String.self) ?? "") ?? 0)
        values.remove("number")
        try values.bind("unit", "pieces")
    }
}

// What the first version has stored: its name, its version, {"number": "12"}
let old: StoredValue = .list([.text("example.counted"), .integer(1), .map(["number": .text("12")])])
let counting = try HandlerRegistry<App>([Counted.self])
try counting.call(StoredHandler(bytes: old.canonicalBytes), (), in: app)
#expect(app.log.last == "12 pieces")
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 187)
let newer: StoredValue = .list([.text("example.counted"), .integer(3), .map([:])])
do {
    try counting.call(StoredHandler(bytes: newer.canonicalBytes), (), in: app)
Issue.record("nothing was thrown") } catch let error as HandlerError {
    #expect(error.code == .newerVersion)
    #expect(error.description == "handler example.counted (version 3): was stored by a newer version, this one has 2")
}
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 202)
struct Saved: InvalidatableHandler {
    static let name = "example.saved"
    var file: String
    var done: Bool?
    func call(_ size: Int, in app: App) { app.log.append("\(file): \(size) bytes") }
    func invalidate(_ reason: Invalidation, in app: App) {
        app.log.append("\(file): \(reason)\(done == true ? ", but done" : "")")
    }
}

let saving = try HandlerRegistry<App>([Saved.self])
let save = try StoredHandler(Saved(file: "a.txt"))
try saving.invalidate(save, Invalidation("logged out"), overriding: ["done": true], in: app)
#expect(app.log.last == "a.txt: logged out, but done")
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 222)
do {
    try saving.call(StoredHandler(bytes: save.bytes), 12, in: app)
Issue.record("nothing was thrown") } catch let error as HandlerError {
    #expect(error.code == .invalidated)
}
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/CallbacksThatSurvive.md", line: 235)
do {
    try HandlerRegistry<App>([]).call(stored, "Good morrow", in: app)
Issue.record("nothing was thrown") } catch let error as HandlerError {
    #expect(error.description == "handler example.greeted (version 1): no such handler is known")
}

let empty: StoredValue = .list([.text("example.greeted"), .integer(1), .map([:])])
do {
    try app.registry.call(StoredHandler(bytes: empty.canonicalBytes), "Good morrow", in: app)
Issue.record("nothing was thrown") } catch let error as HandlerError {
    #expect(error.description == "handler example.greeted (version 1): language is missing")
}
#sourceLocation()
    }

    @Test("KalijHandlers.md") func articleKalijHandlers() throws {
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/KalijHandlers.md", line: 12)
final class Shelf {
    var titles: [String] = []
}

struct BookArrived: Handler {
    static let name = "shelf.book-arrived"
    var title: String
    func call(_ copies: Int, in shelf: Shelf) { shelf.titles.append("\(copies) of \(title)") }
}

let row: [UInt8] = try StoredHandler(BookArrived(title: "Romeo and Juliet")).bytes

// In another process:
let registry = try HandlerRegistry<Shelf>([BookArrived.self])
let shelf = Shelf()
try registry.call(StoredHandler(bytes: row), 2, in: shelf)
#expect(shelf.titles == ["2 of Romeo and Juliet"])
#sourceLocation()
    }

    // Compiled, not run.
    private func articleWaitingInTheDatabase(step: Step, engine: Engine) async throws {
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/WaitingInTheDatabase.md", line: 19)
struct VersionTold: InvalidatableHandler {
    static let name = "org.example.versions.told"
    var contact: String

    func call(_ reply: IQReply, in step: Step) throws {
        switch reply {
        case .result(let iq):
            let version: String? = iq.findFirst("{jabber:iq:version}query/version#")
            try note(version ?? "says nothing", in: step)
        case .error(let error, _): try note("refuses: \(error.condition.rawValue)", in: step)
        case .timeout: try note("does not answer", in: step)
        }
    }

    func invalidate(_ reason: Invalidation, in step: Step) throws { try note("unknown: \(reason)", in: step) }

    private func note(_ text: String, in step: Step) throws {
        try step.tables.run("INSERT INTO org_example_versions VALUES (?, ?)", [.text(contact), .text(text)])
    }
}

let question = Element.request(.get, Element("query", xmlns: "jabber:iq:version"), to: try JID("juliet@example.com/balcony"))
try step.send(question, then: VersionTold(contact: "juliet@example.com"), within: .seconds(30))
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/WaitingInTheDatabase.md", line: 52)
enum Versions: Feature {
    static let name = "org.example.versions"
    static let migrations = [
        Migration("org.example.versions/1", "CREATE TABLE org_example_versions(contact TEXT, says TEXT)")
    ]
    static var handlers: [any Handler<Step>.Type] { [VersionTold.self] }
}

var options = Engine.Options()
options.features = [Versions.self]
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/WaitingInTheDatabase.md", line: 67)
struct ReminderDue: Handler {
    static let name = "org.example.reminders.due"
    var text: String
    func call(_: Void, in step: Step) throws {
        try step.tables.run("INSERT INTO org_example_reminders VALUES (?)", [.text(text)])
    }
}

let timer = try step.schedule(ReminderDue(text: "the nurse"), at: step.now + 3_600_000)
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/WaitingInTheDatabase.md", line: 82)
let wasWaiting = try step.cancel(timer)
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/WaitingInTheDatabase.md", line: 91)
struct SumKnown: Handler {
    static let name = "org.example.sums.known"
    func call(_ outcome: PromiseOutcome<Int>, in step: Step) throws {
        switch outcome {
        case .resolved(let sum): try step.tables.run("INSERT INTO org_example_sums VALUES (?)", [.integer(Int64(sum))])
        case .rejected(let rejection): try step.tables.run("INSERT INTO org_example_sums VALUES (?)", [.text(rejection.reason)])
        }
    }
}

struct PriceTold: InvalidatableHandler {
    static let name = "org.example.sums.price"
    var sum: Promise<Int>
    func call(_ reply: IQReply, in step: Step) throws {
        guard let price: Int = reply.iq?.findFirst("price#|int") else {
            try step.reject(sum, with: Rejection("no price"))
            return
        }
        try step.resolve(sum, with: price)
    }
    func invalidate(_ reason: Invalidation, in step: Step) throws { try step.reject(sum, with: Rejection(reason.name)) }
}

let sum = try step.promise(of: Int.self, within: .seconds(3600))
try step.then(sum, SumKnown())
let price = Element.request(.get, Element("price", xmlns: "urn:example:price"), to: try JID("shop.example.com"))
try step.send(price, then: PriceTold(sum: sum))
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/WaitingInTheDatabase.md", line: 126)
let total = try await engine.awaiter.value(of: sum)
#sourceLocation()
#sourceLocation(file: "Sources/KalijHandlers/KalijHandlers.docc/WaitingInTheDatabase.md", line: 139)
enum Reminders: Feature {
    static let name = "org.example.reminders"
    static let migrations = [Migration("org.example.reminders/1", "CREATE TABLE org_example_reminders(text TEXT)")]
    static var handlers: [any Handler<Step>.Type] { [ReminderDue.self] }
    static func handlerDeadLettered(_ letter: DeadLetter, in step: Step) throws {
        try step.tables.run("INSERT INTO org_example_reminders VALUES (?)", [.text("\(letter.name) is lost")])
    }
}

options.features = [Reminders.self]
#sourceLocation()
    _ = question
    _ = timer
    _ = wasWaiting
    _ = sum
    _ = price
    _ = total
    }

}
