import CYardstickXML2
import FoundationEssentials
import KalijXML

// query SAMPLES [PASSES]: ten queries over samples of stanzas, one line of JSON for each query and each way to ask.
let folder = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "samples"
let passes = max(1, CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 2_000 : 2_000)

func stanzas(_ kind: String) throws -> [Element] {
    let bytes = try Data(contentsOf: URL(filePath: "\(folder)/\(kind).xml"))
    var result: [Element] = []
    try StreamParser().feed([UInt8](bytes)) { event in
        if case .element(let element) = event { result.append(element) }
    }
    return result
}

/// Holds a stanza, so that the lending loop has no reference to count: counting costs as much as a query, and a handler
/// of a stanza does not count for each query either. `measureLoop` shows the difference.
final class Sample {
    let element: Element
    init(_ element: Element) { self.element = element }
}

/// Measures a query. The query returns the length of its result, nil if there is none.
@inline(__always)
func measure(_ number: Int, _ how: String, _ elements: [Element], _ query: (Element) -> Int?) {
    let samples = elements.map(Sample.init)
    // The samples are kept to the end of this function.
    let lent = samples.map { Unmanaged.passUnretained($0) }
    var (hits, length, start) = (0, 0, 0.0)
    for pass in -passes / 10..<passes {
        if pass == 0 { (hits, length, start) = (0, 0, floor_cpu_seconds()) }
        for place in lent.indices {
            if let found = lent[place]._withUnsafeGuaranteedRef({ query($0.element) }) {
                hits &+= 1
                length &+= found
            }
        }
    }
    withExtendedLifetime(samples) {}
    report(number, how, floor_cpu_seconds() - start, elements.count, hits, length)
}

/// The same in an ordinary loop over an array, which counts a reference to each element.
@inline(__always)
func measureLoop(_ number: Int, _ elements: [Element], _ query: (Element) -> Bool) {
    var (hits, start) = (0, 0.0)
    for pass in -passes / 10..<passes {
        if pass == 0 { (hits, start) = (0, floor_cpu_seconds()) }
        for element in elements where query(element) { hits &+= 1 }
    }
    report(number, "check in for", floor_cpu_seconds() - start, elements.count, hits, 0)
}

@inline(never)
func report(_ number: Int, _ how: String, _ seconds: Double, _ count: Int, _ hits: Int, _ length: Int) {
    let nanoseconds = seconds * 1e9 / Double(passes * count)
    print(
        "{\"query\":\"Q\(number)\",\"how\":\"\(how)\",\"ns\":\(nanoseconds),"
            + "\"hits\":\(hits / passes),\"length\":\(length / passes)}")
}

func q1(_ stanzas: [Element]) {
    measure(1, "check", stanzas) { $0.check(Texts.body) ? 0 : nil }
    measureLoop(1, stanzas) { $0.check(Texts.body) }
    measure(1, "bytes", stanzas) { $0.withFirst(Texts.body) { $0.count } }
    measure(1, "string", stanzas) { ($0.findFirst(Texts.body) as String?)?.utf8.count }
    measure(1, "literal string", stanzas) {
        ($0.findFirst("body#") as String?)?.utf8.count
    }
    measure(1, "literal check", stanzas) {
        $0.check("body#") ? 0 : nil
    }
}

func q2(_ stanzas: [Element]) {
    measure(2, "check", stanzas) { $0.check(Texts.from) ? 0 : nil }
    measureLoop(2, stanzas) { $0.check(Texts.from) }
    measure(2, "bytes", stanzas) { $0.withFirst(Texts.from) { $0.count } }
    measure(2, "string", stanzas) { ($0.findFirst(Texts.from) as String?)?.utf8.count }
    measure(2, "literal string", stanzas) {
        ($0.findFirst("@from") as String?)?.utf8.count
    }
    measure(2, "literal check", stanzas) {
        $0.check("@from") ? 0 : nil
    }
}

func q3(_ stanzas: [Element]) {
    measure(3, "check", stanzas) { $0.check(Texts.stanzaID) ? 0 : nil }
    measureLoop(3, stanzas) { $0.check(Texts.stanzaID) }
    measure(3, "bytes", stanzas) { $0.withFirst(Texts.stanzaID) { $0.count } }
    measure(3, "string", stanzas) { ($0.findFirst(Texts.stanzaID) as String?)?.utf8.count }
    measure(3, "literal string", stanzas) {
        ($0.findFirst("{urn:xmpp:sid:0}stanza-id@id") as String?)?.utf8.count
    }
    measure(3, "literal check", stanzas) {
        $0.check("{urn:xmpp:sid:0}stanza-id@id") ? 0 : nil
    }
}

func q4(_ stanzas: [Element]) {
    measure(4, "check", stanzas) { $0.check(Texts.archivedBody) ? 0 : nil }
    measureLoop(4, stanzas) { $0.check(Texts.archivedBody) }
    measure(4, "bytes", stanzas) { $0.withFirst(Texts.archivedBody) { $0.count } }
    measure(4, "string", stanzas) { ($0.findFirst(Texts.archivedBody) as String?)?.utf8.count }
    measure(4, "literal string", stanzas) {
        ($0.findFirst("{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/{jabber:client}message/body#") as String?)?
            .utf8.count
    }
    measure(4, "literal check", stanzas) {
        $0.check("{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/{jabber:client}message/body#") ? 0 : nil
    }
}

func q5(_ stanzas: [Element]) {
    measure(5, "check", stanzas) { $0.check(Texts.archivedStamp) ? 0 : nil }
    measureLoop(5, stanzas) { $0.check(Texts.archivedStamp) }
    measure(5, "bytes", stanzas) { $0.withFirst(Texts.archivedStamp) { $0.count } }
    measure(5, "string", stanzas) { ($0.findFirst(Texts.archivedStamp) as String?)?.utf8.count }
    measure(5, "literal string", stanzas) {
        ($0.findFirst("{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/{urn:xmpp:delay}delay@stamp") as String?)?
            .utf8.count
    }
    measure(5, "literal check", stanzas) {
        $0.check("{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/{urn:xmpp:delay}delay@stamp") ? 0 : nil
    }
}

func q6(_ stanzas: [Element]) {
    measure(6, "check", stanzas) { $0.check(Texts.role) ? 0 : nil }
    measureLoop(6, stanzas) { $0.check(Texts.role) }
    measure(6, "bytes", stanzas) { $0.withFirst(Texts.role) { $0.count } }
    measure(6, "string", stanzas) { ($0.findFirst(Texts.role) as String?)?.utf8.count }
    measure(6, "literal string", stanzas) {
        ($0.findFirst("{http://jabber.org/protocol/muc#user}x/item@role") as String?)?.utf8.count
    }
    measure(6, "literal check", stanzas) {
        $0.check("{http://jabber.org/protocol/muc#user}x/item@role") ? 0 : nil
    }
}

func q7(_ stanzas: [Element]) {
    measure(7, "check", stanzas) { $0.check(Texts.key) ? 0 : nil }
    measureLoop(7, stanzas) { $0.check(Texts.key) }
    measure(7, "bytes", stanzas) { $0.withFirst(Texts.key) { $0.count } }
    measure(7, "string", stanzas) { ($0.findFirst(Texts.key) as String?)?.utf8.count }
    measure(7, "literal string", stanzas) {
        ($0.findFirst("{eu.siacs.conversations.axolotl}encrypted/header/key<prekey=true>#") as String?)?.utf8.count
    }
    measure(7, "literal check", stanzas) {
        $0.check("{eu.siacs.conversations.axolotl}encrypted/header/key<prekey=true>#") ? 0 : nil
    }
}

func q8(_ stanzas: [Element]) {
    measure(8, "check", stanzas) { $0.check(Checks.archiving) ? 0 : nil }
    measureLoop(8, stanzas) { $0.check(Checks.archiving) }
    measure(8, "literal check", stanzas) {
        $0.check("{http://jabber.org/protocol/disco#info}query/feature<var=urn:xmpp:mam:2>") ? 0 : nil
    }
}

func q9(_ stanzas: [Element]) {
    measure(9, "check", stanzas) { $0.check(Checks.markable) ? 0 : nil }
    measureLoop(9, stanzas) { $0.check(Checks.markable) }
    measure(9, "literal check", stanzas) {
        $0.check("{urn:xmpp:chat-markers:0}markable") ? 0 : nil
    }
}

func q10(_ stanzas: [Element]) {
    measure(10, "check", stanzas) { $0.check(Checks.noStore) ? 0 : nil }
    measureLoop(10, stanzas) { $0.check(Checks.noStore) }
    measure(10, "literal check", stanzas) {
        $0.check("{urn:xmpp:hints}no-store") ? 0 : nil
    }
}

q1(try stanzas("chat"))
q2(try stanzas("chat"))
q3(try stanzas("chat"))
q4(try stanzas("mam"))
q5(try stanzas("mam"))
q6(try stanzas("mucpres"))
q7(try stanzas("omemo"))
q8(try stanzas("disco"))
q9(try stanzas("chat"))
q10(try stanzas("chat"))
