import KalijStream
import KalijXML
import Testing

@testable import KalijFeatures
@testable import KalijCore

/// The element `<notify/>` in a bookmark (XEP-0492 sections 2 and 3).
struct NotifyElementTests {
    private let notify = NotifyElement(identity: .init(category: "client", type: "pc"))

    private func extensions(_ content: String) throws -> [Element] {
        try Element.parse("<extensions xmlns='urn:xmpp:bookmarks:1'>\(content)</extensions>").children
    }

    private static func element(_ content: String) -> String {
        "<notify xmlns='\(NotifyElement.namespace)'>\(content)</notify>"
    }

    @Test("section 3: the setting most specific to the client's own identity counts; of contradicting ones the first")
    func specificity() throws {
        let (pc, client) = ("identity-category='client' identity-type='pc'", "identity-category='client'")
        for (content, choice) in [
            ("<never/>", NotifyChoice.none), ("<on-mention/>", .mentions), ("<always/>", .all),
            ("<always/><on-mention \(client)/><never \(pc)/>", NotifyChoice.none),
            ("<never \(client)/><always/>", NotifyChoice.none),
            ("<never \(client) identity-type='phone'/><never identity-category='gateway'/><always/>", .all),
            ("<never identity-type='pc'/><on-mention/>", .mentions),
            ("<never/><always/>", NotifyChoice.none), ("<always/><never/>", .all),
            ("<sometimes/><never xmlns='urn:example:client'/><always/>", .all),
        ] {
            #expect(try notify.choice(in: extensions(Self.element(content))) == choice, "\(content)")
        }
    }

    @Test("what is no setting for this client is none", arguments: ["", "<sometimes/>", "<never identity-type='pc'/>"])
    func nothing(_ content: String) throws {
        #expect(try notify.choice(in: extensions(Self.element(content))) == nil)
        #expect(try notify.choice(in: extensions("<notify><never/></notify>")) == nil)
        #expect(notify.choice(in: []) == nil)
    }

    @Test(
        "a setting is replaced in its place; everything else is preserved, and a fallback is added (section 3)",
        arguments: [
            ("", "<never/>"),
            ("<always/>", "<never/>"),
            (
                "<always><advanced><when xmlns='urn:x' day='1'/></advanced></always>",
                "<never><advanced><when xmlns='urn:x' day='1'/></advanced></never>"
            ),
            (
                "<always identity-category='client' identity-type='phone'/><on-mention/><mark xmlns='urn:x'>1</mark>",
                "<always identity-category='client' identity-type='phone'/><mark xmlns='urn:x'>1</mark><never/>"
            ),
            ("<always identity-category='client'/><on-mention/>", "<on-mention/><never identity-category='client'/>"),
            ("<always identity-category='client'/>", "<never identity-category='client'/><never/>"),
            (
                "<never/><always><advanced><a xmlns='urn:x'/></advanced></always><always/>",
                "<never><advanced><a xmlns='urn:x'/></advanced></never>"
            ),
        ])
    func replaced(_ content: String, _ expected: String) throws {
        let other = "<state xmlns='urn:example:client' minimized='true'><deep>1</deep></state>"
        var list = try extensions(content.isEmpty ? other : other + Self.element(content))
        notify.set(.none, in: &list)
        #expect(list == (try extensions(other + Self.element(expected))))
        #expect(notify.choice(in: list) == NotifyChoice.none)
    }

    @Test("the first of several elements counts, and the others stay")
    func several() throws {
        let many = String(repeating: Self.element("<always/>"), count: 300)
        var list = try extensions(Self.element("<never/>") + many)
        #expect(notify.choice(in: list) == NotifyChoice.none)
        notify.set(.mentions, in: &list)
        #expect(list == (try extensions(Self.element("<on-mention/>") + many)))
    }
}
