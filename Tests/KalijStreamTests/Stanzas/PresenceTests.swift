import KalijAddress
import KalijStream
import KalijXML
import Testing

@Suite("Presences (RFC 6121, 4.7)")
struct PresenceTests {
    private func presence(_ xml: String) throws -> PresenceStanza {
        try PresenceStanza(try #require(Element.parsed(xml)))
    }

    @Test("4.7.1: the types; no type means available; another type is to be refused")
    func kinds() throws {
        #expect(try presence("<presence/>").kind == .available)
        for kind in PresenceStanza.Kind.allCases where kind != .available {
            #expect(try presence("<presence type='\(kind.rawValue)'/>").kind == kind)
            #expect(PresenceStanza(kind).element["type"] == kind.rawValue)
        }
        #expect(PresenceStanza().element["type"] == nil)
        for type in ["", "available", "away"] {
            let error = #expect(throws: StanzaFormatError.self) { try presence("<presence type='\(type)'/>") }
            #expect(error == .unknownType(stanza: "presence", type: type))
        }
    }

    @Test("4.7.2: show, status, priority")
    func parts() throws {
        let presence = try presence(
            """
            <presence xml:lang='en'><show>dnd</show><status>Wooing Juliet</status>\
            <status xml:lang='cs'>Dvořím se Julii</status><priority>1</priority></presence>
            """)
        #expect(presence.show == .doNotDisturb && presence.priority == 1)
        #expect(presence.status == "Wooing Juliet" && presence.statuses["cs"] == "Dvořím se Julii")
    }

    @Test("4.7.2.1: the values of show", arguments: PresenceStanza.Show.allCases)
    func shows(show: PresenceStanza.Show) throws {
        #expect(try presence("<presence><show>\(show.rawValue)</show></presence>").show == show)
        let made = PresenceStanza()
        made.show = show
        #expect(made.element.child("show")?.text == show.rawValue)
        made.show = nil
        #expect(made.element.children.isEmpty)
    }

    @Test(
        "4.7.2.3: a priority is an integer from -128 to 127, 0 if there is none",
        arguments: [
            ("-128", -128), ("127", 127), ("+5", 5), ("128", 0), ("-129", 0), ("", 0), ("high", 0), ("1.5", 0),
        ])
    func priorities(text: String, priority: Int8) throws {
        #expect(try presence("<presence><priority>\(text)</priority></presence>").priority == priority)
    }

    @Test("a set value is in the element, once")
    func changes() throws {
        let presence = PresenceStanza(.unavailable, to: try JID("room@muc.example.org/me"))
        presence.priority = -1
        presence.priority = 3
        presence.status = "gone"
        presence.kind = .available
        let written = """
            <presence xmlns='jabber:client' to='room@muc.example.org/me'><priority>3</priority><status>gone</status>\
            </presence>
            """
        #expect(presence.element == (try Element.parse(written)))
        presence.priority = 0
        #expect(presence.element.child("priority") == nil)
        presence.element["type"] = "odd"
        #expect(presence.kind == .error)
    }

    @Test("no show, or an unknown show, is none")
    func noShow() throws {
        #expect(try presence("<presence/>").show == nil)
        #expect(try presence("<presence><show>busy</show></presence>").show == nil)
        #expect(try presence("<presence/>").priority == 0)
    }
}
