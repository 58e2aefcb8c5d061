import KalijAddress
import Testing

@Suite("Preparation")
struct PreparationTests {
    @Test("the way without libidn agrees with libidn for each ASCII character in each part")
    func asciiAgrees() throws {
        for value in UInt8(0)..<128 {
            let character = Character(Unicode.Scalar(value))
            let padded = "x\(character)y"
            if character != "@", character != "/" {
                let expected = try? PreparationProfile.nodeprep.prepare(padded)
                #expect((try? JID("\(padded)@example.org"))?.local == expected, "local part, \(value)")
            }
            let expected = try? PreparationProfile.resourceprep.prepare(padded)
            #expect((try? JID("example.org/\(padded)"))?.resource == expected, "resource, \(value)")
        }
    }

    @Test("RFC 6122, A.5: characters forbidden in a local part", arguments: Array(#""&'/:<>@"#))
    func forbiddenInLocalParts(character: Character) {
        #expect(throws: PreparationFailure.self) { try PreparationProfile.nodeprep.prepare("a\(character)b") }
    }

    @Test("RFC 4013, 3: the examples of SASLprep")
    func saslprep() throws {
        let profile = PreparationProfile.saslprep
        #expect(try profile.prepare("I\u{AD}X") == "IX")
        #expect(try profile.prepare("user") == "user")
        #expect(try profile.prepare("USER") == "USER")
        #expect(try profile.prepare("\u{AA}") == "a")
        #expect(try profile.prepare("\u{2168}") == "IX")
        #expect(throws: PreparationFailure.forbiddenCharacter("\u{07}", position: 0)) { try profile.prepare("\u{07}") }
        #expect(throws: PreparationFailure.mixedDirections) { try profile.prepare("\u{627}1") }
    }

    @Test("a password with an emoji can be used: servers let unassigned characters through")
    func unassigned() throws {
        #expect(try PreparationProfile.saslprep.prepare("🍺\u{A0}x") == "🍺 x")
    }
}
