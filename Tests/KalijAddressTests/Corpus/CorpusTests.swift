import KalijAddress
import Testing

/// Addresses that the corpus (written for PRECIS, RFC 7622) sees otherwise than the servers, which use stringprep.
private let exceptions: [String: String] = [
    "fußball@example.com": "Nodeprep maps ß to ss (RFC 3454, B.2); PRECIS keeps it",
    "henryⅣ@example.com": "Nodeprep maps Ⅳ to iv (NFKC); PRECIS forbids it",
    "♚@example.com": "a symbol that Unicode 3.2 knows and Nodeprep allows; PRECIS forbids symbols",
    "xsf@muc.xmpp.org/\u{061C}x": "assigned after Unicode 3.2, which stringprep is bound to; PRECIS forbids it",
]

@Suite(
    "Corpus of addresses",
    .enabled(if: Corpus.isWanted, "shared/data/jids was not found, and this is not CI (set KALIJ_SHARED)"))
struct CorpusTests {
    let corpus: Corpus

    init() throws { corpus = try Corpus() }

    @Test("the corpus was read whole")
    func size() {
        #expect(corpus.valid.count == 22)
        #expect(corpus.invalid.count == 24)
    }

    @Test("every valid address is prepared as the corpus says")
    func valid() throws {
        for entry in corpus.valid where exceptions[entry.input] == nil {
            let jid = try JID(entry.input)
            #expect(jid.local == entry.local, "\(entry.input)")
            #expect(jid.domain == entry.domain, "\(entry.input)")
            #expect(jid.resource == entry.resource, "\(entry.input)")
            #expect(JID.received(entry.input) == jid)
        }
    }

    @Test("every invalid address is refused, and kept if a server sends it")
    func invalid() {
        for text in corpus.invalid where exceptions[text] == nil {
            #expect(throws: JIDError.self, "\(text)") { try JID(text) }
            let kept = JID.received(text)
            #expect(!kept.isPrepared)
            #expect(kept.description == text)
        }
    }

    @Test("the exceptions are in the corpus and are prepared as servers do")
    func exceptional() throws {
        for text in exceptions.keys {
            #expect(corpus.valid.contains { $0.input == text } || corpus.invalid.contains(text), "\(text)")
        }
        #expect(try JID("fußball@example.com").local == "fussball")
        #expect(try JID("henryⅣ@example.com").local == "henryiv")
        #expect(try JID("♚@example.com").local == "♚")
        #expect(try JID("xsf@muc.xmpp.org/\u{061C}x").resource == "\u{061C}x")
    }
}
