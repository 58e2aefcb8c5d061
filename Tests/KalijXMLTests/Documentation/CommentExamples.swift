// swift-format-ignore-file
// Made by Scripts/documentation-examples from the documentation. Change that, and run it again.
import FoundationEssentials
import KalijXML
import Testing

// Compiled, not run.
private struct CommentExamples {
    private func comment1(element: Element, message: Element, iq: Element, jid: String) async throws {
#sourceLocation(file: "Sources/KalijXML/Forms/DataForm.swift", line: 12)
var form = try DataForm(element)
try form.fill("public", with: true)
try form.fill("features", with: ["news", "search"])
iq.add(try form.submission().element)
#sourceLocation()
    _ = form
    }

    private func comment2(element: Element, message: Element, iq: Element, jid: String) async throws {
#sourceLocation(file: "Sources/KalijXML/Parser/StreamParser.swift", line: 10)
let parser = StreamParser()
try parser.feed(Array("<stream xmlns='jabber:client'><message/><pres".utf8)) { event in
    if case .element(let stanza) = event { print(stanza.name) }
}
#sourceLocation()
    _ = parser
    }

    private func comment3(element: Element, message: Element, iq: Element, jid: String) async throws {
#sourceLocation(file: "Sources/KalijXML/Query/Query.swift", line: 10)
let body: String? = message.findFirst("body#")
let stamp: Date? = message.findFirst("{urn:xmpp:delay}delay@stamp|datetime")
let mine: Element? = iq.findFirst("{jabber:iq:roster}query/item<jid=\(jid)>")
#sourceLocation()
    _ = body
    _ = stamp
    _ = mine
    }

    private func comment4(element: Element, message: Element, iq: Element, jid: String) async throws {
#sourceLocation(file: "Sources/KalijXML/Query/QueryValue.swift", line: 39)
enum Show: String, QueryValue {
    case away, chat, dnd, xa
    static func isGiven(by kind: QueryKind) -> Bool { kind == .text }
    static func value(of match: QueryMatch) -> Show? { Show(rawValue: match.text) }
}
let show: Show? = element.findFirst("show#")
#sourceLocation()
    _ = show
    }

    private func comment5(element: Element, message: Element, iq: Element, jid: String) async throws {
#sourceLocation(file: "Sources/KalijXML/Query/RegularExpression.swift", line: 63)
QueryProblems.handle { problem in print("query:", problem) }
#sourceLocation()
    }

    private func comment6(element: Element, message: Element, iq: Element, jid: String) async throws {
#sourceLocation(file: "Sources/KalijXML/Tree/Element.swift", line: 7)
let reply = Element("message", xmlns: "jabber:client", attributes: ["to": jid])
reply.add(Element("body", text: "Here I am"))
reply["id"] = "m1"
print(reply.xml())
#sourceLocation()
    _ = reply
    }

    private func comment7(element: Element, message: Element, iq: Element, jid: String) async throws {
#sourceLocation(file: "Sources/KalijXML/Tree/UncheckedSending.swift", line: 8)
actor Inbox {
    private var last: Element?
    func receive(_ stanza: consuming UncheckedSending<Element>) { last = stanza.take() }
}
await Inbox().receive(UncheckedSending(Element("presence", xmlns: "jabber:client")))
#sourceLocation()
    }

}
