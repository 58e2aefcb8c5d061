import Foundation
import KalijAddress
import KalijHandlers
import KalijXML

/// The context of the documents' examples: an account with a log of its events.
final class App {
    var log: [String] = []
    var omemo: OMEMO { OMEMO(app: self) }
    let registry: HandlerRegistry<App>

    init(_ types: [any Handler<App>.Type] = App.handlers) throws { registry = try HandlerRegistry(types) }

    static let handlers: [any Handler<App>.Type] = [
        CarbonsEnabled.self, BundleFetched.self, Greeted.self, EverythingBound.self, Counted.self, Nested.self,
        WithCallback.self, Silent.self,
    ]

    /// Another process: nothing but bytes gets there.
    static func handOver(_ stored: StoredHandler) throws -> StoredHandler { try StoredHandler(bytes: stored.bytes) }
}

struct OMEMO {
    let app: App
    func store(_ text: String) { app.log.append("omemo: \(text)") }
}

/// Enabling carbons: a class handler with an input from the caller.
struct CarbonsEnabled: Handler {
    static let name = "carbons.enabled"
    func call(_ reply: Element, in app: App) throws {
        app.log.append(reply["type"] == "error" ? "carbons refused" : "carbons on")
    }
}

/// Fetching a bundle: an instance handler with the device bound.
struct BundleFetched: Handler {
    static let name = "omemo.bundle-fetched"
    static var instance: KeyPath<App, OMEMO> { \.omemo }
    var rid: UInt32
    var reason: String?
    func call(_ success: Bool, in omemo: OMEMO) throws {
        omemo.store("\(rid) \(success ? "fetched" : "failed: \(reason ?? "no reason")")")
    }
}

/// A handler with an invalidation that takes `done` from the caller.
struct Greeted: InvalidatableHandler {
    static let name = "example.greeted"
    var var1: String
    var success: Bool
    var done: Bool?
    func call(_: Void, in app: App) { app.log.append("called \(var1) \(success)") }
    func invalidate(_ reason: Invalidation, in app: App) {
        app.log.append("invalidated \(var1) done=\(done.map { "\($0)" } ?? "?") because \(reason)")
    }
}

/// A handler without an invalidation method.
struct Silent: Handler {
    static let name = "example.silent"
    func call(_: Void, in app: App) { app.log.append("silent called") }
}

/// Every kind of value.
struct EverythingBound: Handler, Equatable {
    static let name = "example.everything"
    var flag = true
    var int = -42
    var small: Int8 = -128
    var unsigned: UInt = 18_446_744_073_709_551_615
    var double = 0.1
    var float: Float = 1.5
    var text = "Grüße 👋"
    var data = Data([0, 1, 255])
    var date = Date(timeIntervalSinceReferenceDate: 817_401_600.25)
    var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var list = ["a", "", "c"]
    var numbers: [Int: Double] = [1: 0.5, -7: 2]
    var choice = Choice.second
    var nested = Inner(deep: [Inner(deep: []), Inner(deep: nil)])
    var nothing: String?
    func call(_ tell: (EverythingBound) -> Void, in app: App) { tell(self) }

    enum Choice: String, Codable { case first, second }
    struct Inner: Codable, Equatable { var deep: [Inner]? }
}

/// A second version, with a migration from the first.
struct Counted: Handler {
    static let name = "example.counted"
    static let version = 2
    var count: Int
    var unit: String
    func call(_: Void, in app: App) { app.log.append("\(count) \(unit)") }
    static func migrate(_ values: inout BoundValues, from version: Int) throws {
        guard version == 1 else { throw HandlerError(.noMigration, name, version: version) }
        try values.bind("count", Int(try values.value("number", as: String.self) ?? "") ?? 0)
        values.remove("number")
        try values.bind("unit", "pieces")
    }
}

/// A handler that binds another handler.
struct Nested: Handler {
    static let name = "example.nested"
    var next: StoredHandler
    var isLast: Bool?
    func call(_: Void, in app: App) throws {
        if isLast == true { try app.registry.invalidate(next, Invalidation("last"), in: app) }
        try app.registry.call(next, (), in: app)
    }
}

/// A handler that binds another handler with an input type for the compiler.
struct WithCallback: Handler {
    static let name = "example.with-callback"
    var completion: Callback<App, Bool>
    func call(_: Void, in app: App) throws { try app.registry.call(completion, true, in: app) }
}
