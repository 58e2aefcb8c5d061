import CAllocations
import CYardstickXML2
import FoundationEssentials
import KalijXML

// allocations THRESHOLDS: counts allocations for each stanza read (libxml2's own taken off) and for each query, and
// compares with the thresholds. Exit status 1 above a threshold.
let header = "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' id='x'>"
let chat = """
    <message xml:lang='en' to='juliet@example.org/balcony' from='romeo@example.net/orchard' type='chat' id='5b1f8a30'>\
    <body>But, soft! what light through yonder window breaks?</body><active xmlns='http://jabber.org/protocol/chatstates'/>\
    <origin-id xmlns='urn:xmpp:sid:0' id='5b1f8a30'/><count xmlns='urn:example:count'>42</count></message>
    """
let archived = """
    <message to='juliet@example.org/balcony'><result xmlns='urn:xmpp:mam:2' queryid='q1' id='28482-98726-73623'>\
    <forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='2026-11-21T08:00:00Z'/>\
    <message xmlns='jabber:client' from='romeo@example.net/orchard' type='chat'><body>Thou art thyself &amp; more</body>\
    </message></forwarded></result></message>
    """
let keys = (0..<12).map { "<key rid='\($0)'>\(String(repeating: "MwohBfRqBm", count: 8))</key>" }.joined()
let encrypted = """
    <message from='romeo@example.net/orchard'><encrypted xmlns='eu.siacs.conversations.axolotl:x'><header sid='27183'>\
    \(keys)<iv>BASE64ENCODED</iv></header><payload>\(keys.utf8.count)</payload></encrypted></message>
    """

func count(_ body: () throws -> Void) rethrows -> Int {
    let before = kalij_allocation_count()
    try body()
    return kalij_allocation_count() - before
}

/// Allocations a stanza: the added cost of a stream of twice as many, so that beginning a stream does not count.
func parsing(_ stanza: String) throws -> Double {
    let rounds = 2_000
    func bytes(_ times: Int) -> [UInt8] { Array((header + String(repeating: stanza, count: times)).utf8) }
    func ours(_ input: [UInt8]) throws -> Int {
        var kept = [Element?](repeating: nil, count: 100)
        let parser = StreamParser()
        var number = 0
        return try input.withUnsafeBytes { input in
            try count {
                for start in stride(from: 0, to: input.count, by: 1_400) {
                    let chunk = UnsafeRawBufferPointer(rebasing: input[start..<min(start + 1_400, input.count)])
                    try parser.feed(chunk) { event in
                        guard case .element(let element) = event else { return }
                        kept[number % 100] = element
                        number += 1
                    }
                }
            }
        }
    }
    func floor(_ input: [UInt8]) -> Int {
        input.withUnsafeBytes { input in
            count { _ = floor_parse(input.bindMemory(to: CChar.self).baseAddress, input.count, 1_400) }
        }
    }
    let (few, many) = (bytes(rounds), bytes(rounds * 2))
    let more = try ours(many) - ours(few) - (floor(many) - floor(few))
    return Double(more) / Double(rounds)
}

func asking(_ body: () -> Bool) -> Double {
    let rounds = 1_000
    // Work done only at the first call, like compiling, does not count.
    guard body() else { return .infinity }
    var found = 0
    let total = count { for _ in 0..<rounds where body() { found += 1 } }
    return found == rounds ? Double(total) / Double(rounds) : .infinity
}

struct Queries {
    static let body: Query<String> = "body#"
    static let type: Query<String> = "@type"
    static let number: Query<Int> = "{urn:example:count}count#|int"
    static let origin: Query<Element> = "{urn:xmpp:sid:0}origin-id"
}

let stanza = try Element.parse("<message xmlns='jabber:client'" + chat.dropFirst("<message".count))
let measured: [(String, Double)] = [
    ("parse: a chat message", try parsing(chat)),
    ("parse: a result of the archive", try parsing(archived)),
    ("parse: an encrypted message", try parsing(encrypted)),
    ("query: check", asking { stanza.check(Queries.body) }),
    ("query: check, literal in the loop", asking { stanza.check("{urn:xmpp:sid:0}origin-id") }),
    ("query: bytes", asking { stanza.withFirst(Queries.body) { $0.count } ?? 0 > 0 }),
    ("query: String", asking { stanza.findFirst(Queries.body) != nil }),
    ("query: String, literal in the loop", asking { (stanza.findFirst("body#") as String?) != nil }),
    ("query: short String", asking { stanza.findFirst(Queries.type) != nil }),
    ("query: Int", asking { stanza.findFirst(Queries.number) == 42 }),
    ("query: Element", asking { stanza.findFirst(Queries.origin) != nil }),
]
let path = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "Thresholds/allocations.json"
let thresholds = try JSONDecoder().decode([String: Double].self, from: try Data(contentsOf: URL(filePath: path)))
var isOver = Set(thresholds.keys) != Set(measured.map(\.0))
if isOver { print("the thresholds are for other measurements than these") }
for (name, value) in measured {
    let threshold = thresholds[name] ?? 0
    // A buffer that grows once in thousands of stanzas does not belong to a stanza.
    let isMore = value > threshold + 0.01
    isOver = isOver || isMore
    let rounded = (value * 100).rounded() / 100
    print("\(name): \(rounded) allocations, at most \(threshold)\(isMore ? "  OVER" : "")")
}
exit(isOver ? 1 : 0)
