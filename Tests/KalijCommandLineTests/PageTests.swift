import Testing

@testable import KalijCommandLine

@Suite("Man page")
struct PageTests {
    @Test("Nothing in a text means something to roff")
    func escapes() {
        let lines = exampleManual.page.split(separator: "\n").map(String.init)
        #expect(lines.first == ".Dd November 6, 2026")
        #expect(
            lines.contains("\\&.Starts with a dot, has a \\e and \\(aqquotes\\(aq, and a \\fBphrase in a line\\fR;"))
        #expect(lines.allSatisfy { $0.utf8.count <= 80 })
        #expect(lines.contains("\\&.Ed \\(galooks\\(ga like roff"))
        #expect(lines.contains(".It \\&avatar \\&ROOM \\&FILE"))
        #expect(lines.contains(".Op Fl \\-data Ar DIR"))
        #expect(lines.contains("example room \"join\"   x"))
    }
}
