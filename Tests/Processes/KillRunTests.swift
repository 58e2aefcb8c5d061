import Foundation
import KalijLab
import Testing

@Suite(.serialized) struct KillRunTests {
    @Test(arguments: ServerKind.allCases) func fake(kind: ServerKind) async throws {
        var o = DemoOptions()
        o.kills = 10; o.messages = 150; o.server = kind; o.keep = true
        let s = await runDemo(options: o, kalij: "/tmp/lt/kalij")
        print("STATUS", s)
    }
}
