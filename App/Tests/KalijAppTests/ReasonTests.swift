import Foundation
import KalijApp
import KalijClient
import Testing

struct ReasonTests {
    private func reason(_ code: String, _ values: String...) throws -> Reason {
        let text = ([code] + values + [""]).joined(separator: "\\u001F")
        return try #require(try JSONDecoder().decode([Reason].self, from: Data("[\"\(text)\"]".utf8)).first)
    }

    @Test func `Each code has words for a person`() throws {
        for code in Reason.Code.allCases {
            let words = Words.why(try reason(code.rawValue, "romeo@x", "b", "c"))
            #expect(!words.isEmpty && !words.contains("{") && !words.contains("(cancel)"), "\(code): \(words)")
        }
    }

    @Test func `An error of a server's is said in words; one that nobody knows, as the server says it`() throws {
        #expect(
            Words.why(try reason("stanza-error", "remote-server-not-found", "…"))
                == "the other side's server is not known")
        #expect(Words.why(try reason("stanza-error", "bad-request", "bad-request (modify)")) == "bad-request (modify)")
        #expect(Words.why(try reason("stream-error", "conflict", "…")) == "another program uses this session")
    }

    @Test func `What others say has one line, and no sign that turns the writing around`() throws {
        #expect(Words.why(try reason("no-keys", "a\\u202Eb\\nc")).contains("\u{202E}") == false)
    }
}
