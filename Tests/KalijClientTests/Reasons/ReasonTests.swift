import FoundationEssentials
import KalijCore
import KalijStream
import Testing

struct ReasonTests {
    /// A reason with a value for each place of its words, and one for the condition of an error.
    private static func reason(_ code: Reason.Code) -> Reason {
        Reason(stored: ([code.rawValue] + ["v0", "v1", "v2"] + [""]).joined(separator: "\u{1F}"))
    }

    @Test(
        "each code has a name and words of its own, and comes back from the database", arguments: Reason.Code.allCases)
    func codes(_ code: Reason.Code) throws {
        guard code != .other else { return }
        let reason = Self.reason(code)
        #expect((reason.code, reason.values) == (code, ["v0", "v1", "v2"]))
        #expect(!reason.description.isEmpty && !reason.description.contains("{"))
        #expect(Reason(stored: reason.stored) == reason)
        let decoded = try JSONDecoder().decode([Reason].self, from: JSONEncoder().encode([reason]))
        #expect(decoded == [reason])
    }

    @Test("words of former versions, and reasons without a code, stay words")
    func words() {
        for words in ["service-unavailable (cancel)", "", "too-long", "a {0} b", "unknown-code\u{1F}x\u{1F}"] {
            let reason = Reason(stored: words)
            #expect((reason.code, reason.name) == (.other, nil))
            #expect(reason.description == words.replacing("\u{1F}", with: " "))
            #expect(Reason(stored: reason.stored) == reason)
        }
    }

    @Test("a value is only a value: places and separators in what others say change nothing")
    func values() {
        let error = StanzaError(.forbidden, kind: .auth, text: "{0}{1}\u{1F}x")
        let reason = Reason(error)
        #expect(reason.description == "\(error)" && reason.name == "forbidden")
        let stored = Reason(stored: reason.stored)
        #expect((stored.code, stored.values.count) == (.stanzaError, 2))
        #expect(stored.description == "\(error)".replacing("\u{1F}", with: " "))
        #expect(Reason(.tooLong, "9", "{0}").description == "the stanza has 9 bytes, the server takes at most {0}")
        #expect(Reason(stored: "too-long\u{1F}").description == "the stanza has  bytes, the server takes at most ")
    }
}
