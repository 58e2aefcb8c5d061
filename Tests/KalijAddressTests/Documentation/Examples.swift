// swift-format-ignore-file
// Made by Scripts/documentation-examples from the documentation. Change that, and run it again.
import KalijAddress
import Testing

@Suite("Examples of the documentation")
struct Examples {
    @Test("KalijAddress.md") func articleKalijAddress() throws {
#sourceLocation(file: "Sources/KalijAddress/KalijAddress.docc/KalijAddress.md", line: 11)
let juliet = try JID("Juliet@Example.ORG/balcony")
#expect(juliet.description == "juliet@example.org/balcony")
#expect(juliet.bare == JID.received("juliet@example.org"))
#expect(juliet.resource == "balcony")
do {
    _ = try JID("juliet@")
Issue.record("nothing was thrown") } catch {
    print(error)
}
#sourceLocation()
    }

}
