import Foundation
import KalijHandlers
import KalijXML
import Testing

/// Each kind of handler, and each way in which a stored handler can fail.
struct ContractTests {
    @Test("a class handler: a type with a stable name, bound values, and the caller's input (carbons enabling)")
    func classHandler() throws {
        let app = try App()
        let stored = try App.handOver(StoredHandler(CarbonsEnabled()))
        #expect(stored.name == "carbons.enabled")
        try app.registry.call(stored, try Element.parse("<iq type='result'/>"), in: app)
        try app.registry.call(stored, try Element.parse("<iq type='error'/>"), in: app)
        #expect(app.log == ["carbons on", "carbons refused"])
    }

    @Test("an instance handler names its instance as a key path (bundle fetching, rid bound)")
    func instanceHandler() throws {
        let app = try App()
        let stored = try App.handOver(StoredHandler(BundleFetched(rid: 4711)))
        try app.registry.call(stored, true, in: app)
        try app.registry.call(stored, false, overriding: ["reason": "item-not-found"], in: app)
        #expect(app.log == ["omemo: 4711 fetched", "omemo: 4711 failed: item-not-found"])
    }

    @Test("mandatory and optional arguments: a missing mandatory value is an error naming handler and argument")
    func missing() throws {
        let app = try App()
        let stored = try StoredHandler(bytes: try Fixture.bytes("missing-argument"))
        let error = #expect(throws: HandlerError.self) { try app.registry.call(stored, true, in: app) }
        #expect(error?.code == .missingArgument)
        #expect(error?.description == "handler omemo.bundle-fetched (version 1): rid is missing")
        #expect(app.log.isEmpty)
    }

    @Test("a null is a missing mandatory value, and a value of another kind does not fit")
    func wrongKind() throws {
        let app = try App()
        let stored = try StoredHandler(BundleFetched(rid: 1))
        let null = #expect(throws: HandlerError.self) {
            try app.registry.call(stored, true, overriding: ["rid": UInt32?.none], in: app)
        }
        #expect(null?.code == .missingArgument && null?.argument == "rid")
        let text = #expect(throws: HandlerError.self) {
            try app.registry.call(stored, true, overriding: ["rid": "many"], in: app)
        }
        #expect(text?.description == "handler omemo.bundle-fetched (version 1): rid does not fit, not UInt32")
    }

    @Test("the initializer binds values, not variables")
    func initializer() throws {
        let app = try App()
        var handler = BundleFetched(rid: 1)
        let stored = try StoredHandler(handler)
        handler.rid = 2
        try app.registry.call(stored, true, in: app)
        #expect(app.log == ["omemo: 1 fetched"])
    }

    @Test("values given at the call replace bound values of the same name, by property name")
    func overriding() throws {
        let app = try App()
        let stored = try StoredHandler(Greeted(var1: "value", success: true))
        try app.registry.call(stored, (), overriding: ["success": false], in: app)
        try app.registry.call(stored, (), in: app)
        try Greeted(var1: "typed", success: true).call((), overriding: ["var1": "replaced"], in: app)
        #expect(app.log == ["called value false", "called value true", "called replaced true"])
        let error = #expect(throws: HandlerError.self) {
            try app.registry.call(stored, (), overriding: ["sucess": false], in: app)
        }
        #expect(error?.description == "handler example.greeted (version 1): sucess is no property of the handler")
    }

    @Test("an optional value that was not bound can be supplied by the caller")
    func overridingOptional() throws {
        let app = try App()
        try app.registry.call(
            try StoredHandler(BundleFetched(rid: 7)), false, overriding: ["reason": "gone"], in: app)
        #expect(app.log == ["omemo: 7 failed: gone"])
    }

    @Test("an invalidation has values of its own (done)")
    func invalidation() throws {
        let app = try App()
        let stored = try App.handOver(StoredHandler(Greeted(var1: "value", success: true)))
        try app.registry.invalidate(stored, Invalidation("logout"), overriding: ["done": true], in: app)
        #expect(app.log == ["invalidated value done=true because logout"])
    }

    @Test(
        "after invalidation a handler can neither be called nor invalidated again: with and without a method for invalidation"
    )
    func invalidated() throws {
        let app = try App()
        let greeted = try StoredHandler(Greeted(var1: "value", success: true))
        let silent = try StoredHandler(Silent())
        for stored in [greeted, silent] {
            let copy = stored
            try app.registry.invalidate(stored, Invalidation("over"), in: app)
            for handler in [stored, copy, try App.handOver(stored)] {
                #expect(handler.isInvalidated)
                let call = #expect(throws: HandlerError.self) { try app.registry.call(handler, (), in: app) }
                let again = #expect(throws: HandlerError.self) {
                    try app.registry.invalidate(handler, Invalidation("again"), in: app)
                }
                #expect(call?.code == .invalidated && again?.code == .invalidated)
            }
        }
        #expect(app.log.count == 1)
    }

    @Test("a handler read before its invalidation is not called afterwards")
    func invalidatedBetween() throws {
        let app = try App()
        let stored = try StoredHandler(Silent())
        let ready = try app.registry.ready(stored, ())
        try app.registry.invalidate(stored, Invalidation("over"), in: app)
        #expect(throws: HandlerError(.invalidated, "example.silent", version: 1)) { try ready(app) }
    }

    @Test("every data type of the documents, and any Codable value, comes back unchanged")
    func types() throws {
        let app = try App()
        let handler = EverythingBound()
        var seen: EverythingBound?
        let tell: (EverythingBound) -> Void = { seen = $0 }
        try app.registry.call(try App.handOver(StoredHandler(handler)), tell, in: app)
        #expect(seen == handler)
    }

    @Test("another handler is bound like any value, called and invalidated through the binding handler")
    func nested() throws {
        let app = try App()
        let inner = try StoredHandler(Greeted(var1: "inner", success: false))
        let outer = try App.handOver(StoredHandler(Nested(next: inner)))
        try app.registry.call(outer, (), in: app)
        #expect(throws: HandlerError(.invalidated, "example.greeted", version: 1)) {
            try app.registry.call(outer, (), overriding: ["isLast": true], in: app)
        }
        let typed = try StoredHandler(WithCallback(completion: Callback(BundleFetched(rid: 3))))
        try app.registry.call(App.handOver(typed), (), in: app)
        #expect(app.log == ["called inner false", "invalidated inner done=? because last", "omemo: 3 fetched"])
    }

    @Test("an unknown name is an error, not a crash; so is an input of the wrong type")
    func unknown() throws {
        let app = try App([Silent.self])
        let gone = try StoredHandler(BundleFetched(rid: 1))
        #expect(throws: HandlerError(.unknownName, "omemo.bundle-fetched", version: 1)) {
            try app.registry.call(gone, true, in: app)
        }
        let error = #expect(throws: HandlerError.self) {
            try app.registry.call(try StoredHandler(Silent()), 5, in: app)
        }
        #expect(error?.code == .wrongInput)
        #expect(throws: HandlerError(.duplicateName, "example.silent")) { _ = try App([Silent.self, Silent.self]) }
    }

    @Test("an older version is migrated, a newer version and a version never released are refused")
    func versions() throws {
        let app = try App()
        try app.registry.call(StoredHandler(bytes: try Fixture.bytes("counted-version1")), (), in: app)
        #expect(app.log == ["12 pieces"])
        let newer = #expect(throws: HandlerError.self) {
            try app.registry.call(StoredHandler(bytes: try Fixture.bytes("counted-version9")), (), in: app)
        }
        #expect(
            newer?.description == """
                handler example.counted (version 9): was stored by a newer version, this one has 2
                """)
        #expect(throws: HandlerError.self) {
            try app.registry.ready(try StoredHandler(bytes: Fixture.bytes("silent-version0")), ())
        }
    }

    @Test("a handler's error is passed on unchanged")
    func throwing() throws {
        struct Broken: Error {}
        struct Throwing: Handler {
            static let name = "example.throwing"
            func call(_: Void, in app: App) throws { throw Broken() }
        }
        let app = try App([Throwing.self])
        #expect(throws: Broken.self) { try app.registry.call(try StoredHandler(Throwing()), (), in: app) }
    }

    @Test("an invalidation that fails undoes everything")
    func failedInvalidation() throws {
        struct Stubborn: InvalidatableHandler {
            struct NotYet: Error {}
            static let name = "example.stubborn"
            var mayEnd: Bool?
            func call(_: Void, in app: App) {}
            func invalidate(_ reason: Invalidation, in app: App) throws { if mayEnd != true { throw NotYet() } }
        }
        let app = try App([Stubborn.self])
        let stored = try StoredHandler(Stubborn())
        #expect(throws: Stubborn.NotYet.self) { try app.registry.invalidate(stored, Invalidation("x"), in: app) }
        try app.registry.invalidate(stored, Invalidation("x"), overriding: ["mayEnd": true], in: app)
        #expect(stored.isInvalidated)
    }
}
