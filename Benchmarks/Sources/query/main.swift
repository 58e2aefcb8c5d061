import CYardstickXML2
import FoundationEssentials
import KalijXML

// query SAMPLES: the ten queries of the yardstick over its samples (gen.py writes them), in CPU nanoseconds a query:
// as a check, as a String, and as a String with the literal inside the loop.
let folder = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "samples"

func stanzas(_ kind: String) throws -> [Element] {
    let bytes = try Data(contentsOf: URL(filePath: "\(folder)/\(kind).xml"))
    var result: [Element] = []
    try StreamParser().feed([UInt8](bytes)) { event in
        if case .element(let element) = event { result.append(element) }
    }
    return result
}

func nanoseconds(_ elements: [Element], _ body: (Element) -> Int) -> (Double, Int) {
    let rounds = 3_000
    var (best, hits) = (Double.infinity, 0)
    for _ in 0..<5 {
        hits = 0
        let start = floor_cpu_seconds()
        for _ in 0..<rounds { for element in elements { hits &+= body(element) } }
        best = min(best, floor_cpu_seconds() - start)
    }
    return (best * 1e9 / Double(rounds * elements.count), hits / rounds)
}

struct Case {
    var kind: String
    var query: Query<String>
    var inline: (Element) -> String?
    init(_ kind: String, _ query: Query<String>, _ inline: @escaping (Element) -> String?) {
        (self.kind, self.query, self.inline) = (kind, query, inline)
    }
}

let texts = [
    Case("chat", "body#") { $0.findFirst("body#") },
    Case("chat", "@from") { $0.findFirst("@from") },
    Case("chat", "{urn:xmpp:sid:0}stanza-id@id") { $0.findFirst("{urn:xmpp:sid:0}stanza-id@id") },
    Case("mam", "{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/{jabber:client}message/body#") {
        $0.findFirst("{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/{jabber:client}message/body#")
    },
    Case("mam", "{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/{urn:xmpp:delay}delay@stamp") {
        $0.findFirst("{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/{urn:xmpp:delay}delay@stamp")
    },
    Case("mucpres", "{http://jabber.org/protocol/muc#user}x/item@role") {
        $0.findFirst("{http://jabber.org/protocol/muc#user}x/item@role")
    },
    Case("omemo", "{eu.siacs.conversations.axolotl}encrypted/header/key<prekey=true>#") {
        $0.findFirst("{eu.siacs.conversations.axolotl}encrypted/header/key<prekey=true>#")
    },
]
let checks: [(String, Query<Element>)] = [
    ("disco", "{http://jabber.org/protocol/disco#info}query/feature<var=urn:xmpp:mam:2>"),
    ("chat", "{urn:xmpp:chat-markers:0}markable"), ("chat", "{urn:xmpp:hints}no-store"),
]
for (place, item) in texts.enumerated() {
    let elements = try stanzas(item.kind)
    let check = nanoseconds(elements) { $0.check(item.query) ? 1 : 0 }
    let text = nanoseconds(elements) { ($0.findFirst(item.query) as String?)?.utf8.count ?? 0 }
    let inline = nanoseconds(elements) { item.inline($0)?.utf8.count ?? 0 }
    print("Q\(place + 1) check \(check.0) (\(check.1)) string \(text.0) inline \(inline.0)")
}
for (place, item) in checks.enumerated() {
    let check = nanoseconds(try stanzas(item.0)) { $0.check(item.1) ? 1 : 0 }
    print("Q\(place + 8) check \(check.0) (\(check.1))")
}
