import Foundation
import KalijAddress
import KalijHandlers
import KalijXML
import Testing

/// The examples of the documents, rewritten; and their table of data types: each type bound, stored and read again by
/// code that knows only the bytes.
struct DocumentExampleTests {
    /// The account of the documents' examples.
    private final class Account {
        var usesCarbons = false
        var errors: [String] = []
        var bundles: [String: Element] = [:]
        var omemo: Keys { Keys(account: self) }
    }

    private struct Keys {
        let account: Account
        func process(_ keys: Element, rid: String) { account.bundles[rid] = keys }
    }

    private func other(_ stored: StoredHandler) throws -> StoredHandler { try StoredHandler(bytes: stored.bytes) }

    // MARK: Enabling carbons

    private struct CarbonsEnabled: Handler {
        static let name = "carbons.enabled"
        func call(_ iq: Element, in account: Account) {
            guard !iq.check("/<type=error>") else {
                account.errors.append(
                    iq.findFirst("error/{urn:ietf:params:xml:ns:xmpp-stanzas}!text$") ?? "no condition")
                return
            }
            account.usesCarbons = true
        }
    }

    @Test("enabling carbons: the answer, at any time, turns carbons on, or its error is reported")
    func carbons() throws {
        let account = Account()
        let registry = try HandlerRegistry<Account>([CarbonsEnabled.self])
        let handler = try other(StoredHandler(CarbonsEnabled()))
        try registry.call(
            handler,
            Element.parse(
                """
                <iq xmlns='jabber:client' type='error'><error type='cancel'>\
                <forbidden xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
                """), in: account)
        #expect(!account.usesCarbons && account.errors == ["forbidden"])
        try registry.call(handler, Element.parse("<iq xmlns='jabber:client' type='result'/>"), in: account)
        #expect(account.usesCarbons && account.errors.count == 1)
    }

    // MARK: Fetching OMEMO bundles

    /// pubsub's input for a handler.
    private struct Fetched {
        let jid: String
        var errorIQ: Element?
        var errorReason: String?
        var data: [String: Element]?
    }

    private struct BundleFetched: Handler {
        static let name = "omemo.bundle-fetched"
        static var instance: KeyPath<Account, Keys> { \.omemo }
        var rid: String
        func call(_ fetched: Fetched, in keys: Keys) {
            guard let data = fetched.data else {
                let reason = fetched.errorIQ?.findFirst("error@type") ?? fetched.errorReason ?? "no reason"
                keys.account.errors.append("no bundle from \(fetched.jid), rid \(rid): \(reason)")
                return
            }
            // Some clients do not use <item id="current">.
            if let received = data["current"] ?? (data.count == 1 ? data.values.first : nil) {
                keys.process(received, rid: rid)
            } else {
                keys.account.errors.append("more than one bundle item found from \(fetched.jid), rid \(rid)")
            }
        }
    }

    @Test("fetching bundles: rid is bound, pubsub's result is supplied, and the handler works on account.omemo")
    func bundles() throws {
        let account = Account()
        let registry = try HandlerRegistry<Account>([BundleFetched.self])
        func call(_ rid: String, _ fetched: Fetched) throws {
            try registry.call(other(StoredHandler(BundleFetched(rid: rid))), fetched, in: account)
        }
        let bundle = try Element.parse("<bundle xmlns='eu.siacs.conversations.axolotl'/>")
        let iq = try Element.parse("<iq xmlns='jabber:client' type='error'><error type='wait'/></iq>")
        try call("1", Fetched(jid: "a@b", data: ["current": bundle, "old": iq]))
        try call("2", Fetched(jid: "a@b", data: ["other": bundle]))
        try call("3", Fetched(jid: "a@b", data: ["x": bundle, "y": bundle]))
        try call("4", Fetched(jid: "a@b", errorIQ: iq))
        try call("5", Fetched(jid: "a@b", errorReason: "timeout"))
        #expect(account.bundles.keys.sorted() == ["1", "2"] && account.bundles["1"] == bundle)
        #expect(
            account.errors == [
                "more than one bundle item found from a@b, rid 3", "no bundle from a@b, rid 4: wait",
                "no bundle from a@b, rid 5: timeout",
            ])
    }

    // MARK: Invalidation with `done`

    private struct WithInvalidation: InvalidatableHandler {
        static let name = "example.with-invalidation"
        var var1: String
        var success: Bool
        var done: Bool?
        func call(_: Void, in account: Account) { account.errors.append("called") }
        func invalidate(_ reason: Invalidation, in account: Account) {
            account.errors.append("\(var1) \(success) \(done.map { "\($0)" } ?? "-")")
        }
    }

    @Test("invalidation: with the bound values, and `done` from the caller; once")
    func invalidation() throws {
        let account = Account()
        let registry = try HandlerRegistry<Account>([WithInvalidation.self])
        let handler = try other(StoredHandler(WithInvalidation(var1: "value", success: true)))
        try registry.invalidate(handler, Invalidation("over"), overriding: ["done": true], in: account)
        for stored in [handler, try other(handler)] {
            #expect(throws: HandlerError(.invalidated, "example.with-invalidation", version: 1)) {
                try registry.invalidate(stored, Invalidation("over"), overriding: ["done": true], in: account)
            }
            #expect(throws: HandlerError(.invalidated, "example.with-invalidation", version: 1)) {
                try registry.call(stored, (), in: account)
            }
        }
        #expect(account.errors == ["value true true"])
    }

    // MARK: Data types

    private struct Bound: Handler {
        static let name = "example.bound"
        // $$ID, $_ID
        var element: Element
        var form: DataForm
        var jid: JID
        var date: Date
        var data: Data
        var uuid: UUID
        var text: String
        var nobody: JID?
        // $$HANDLER, $_HANDLER
        var handler: StoredHandler
        var callback: Callback<Account, Void>?
        // $$BOOL, $$INT, $$DOUBLE, $$INTEGER, $$UINTEGER
        var bool: Bool
        var int: Int32
        var double: Double
        var integer: Int
        var unsigned: UInt
        func call(_ tell: (Bound) -> Void, in account: Account) { tell(self) }
    }

    @Test("every data type: elements, forms, addresses, dates, bytes, handlers, booleans, integers, doubles")
    func types() throws {
        let account = Account()
        let inner = WithInvalidation(var1: "inner", success: false)
        let element = try Element.parse(
            "<message xmlns='jabber:client' to='a@b'><body xml:lang='de'>Grüße &amp; &lt;👋&gt;</body><x xmlns='urn:x'/></message>"
        )
        let bound = Bound(
            element: element,
            form: DataForm(
                .submit, formType: "urn:example:f", fields: [DataForm.Field("a", .textSingle, values: ["1"])]),
            jid: try JID("juliet@example.org/balcony"), date: Date(timeIntervalSince1970: 1_795_262_400.5),
            data: Data([0, 255]), uuid: UUID(), text: "", handler: try StoredHandler(inner),
            callback: try Callback(inner), bool: false, int: .min, double: -0.5, integer: .min, unsigned: .max)
        let registry = try HandlerRegistry<Account>([Bound.self, WithInvalidation.self])
        var seen: Bound?
        let tell: (Bound) -> Void = { seen = $0 }
        try registry.call(other(StoredHandler(bound)), tell, in: account)
        let read = try #require(seen)
        #expect(read.element == element && read.form == bound.form && read.jid == bound.jid)
        #expect(read.date == bound.date && read.data == bound.data && read.uuid == bound.uuid && read.text.isEmpty)
        #expect(read.nobody == nil && !read.bool && read.int == .min && read.double == -0.5)
        #expect(read.integer == .min && read.unsigned == .max)
        try registry.call(read.handler, (), in: account)
        try registry.invalidate(try #require(read.callback), Invalidation("x"), in: account)
        #expect(account.errors == ["called", "inner false -"])
    }
}
