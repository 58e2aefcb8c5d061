import Foundation
import KalijLab
import TestSupport
import Testing

/// `kalij search` beside a driver.
@Suite(.serialized) struct SearchCommandTests {
    @Test("search finds what came and went, beside a driver and after a kill", arguments: LongForm.servers)
    func search(kind: ServerKind) async throws {
        let world = try await World(kind)
        defer { world.close() }
        let run = try world.kalij.running()
        try await run.event("caught_up")
        try await world.send(["Wo ist das Café?", "on the balcony", "and the café again"])
        #expect(try await until { try world.kalij("search", "again").status == 0 })
        #expect(try world.kalij("send", "bob@localhost", "CAFE, too").status == 0)
        #expect(try await until { try world.kalij("search", "too").status == 0 })
        func found(_ words: String...) throws -> [String] {
            try world.kalij.run(["--json", "search"] + words).objects().compactMap { $0["body"] as? String }
        }
        let all = ["Wo ist das Café?", "and the café again", "CAFE, too"]
        #expect(try found("cafe") == all)
        // The driver has indexed the texts meanwhile.
        #expect(try await until { try await world.sql("SELECT place FROM search_progress") != "0\n" })
        #expect(try found("cafe") == all)
        #expect(try found("cafe", "--limit", "1") == ["CAFE, too"])
        #expect(try found("cafe", "--in", "bob@localhost", "--after", "2001-01-01") == all)
        #expect(try found("cafe", "--before", "2001-01-01") == [])
        #expect(run.end(SIGKILL).status != 0)
        #expect(try found("cafe") == all)
        #expect(try world.kalij("search", "nothing").status == 1)
        #expect(try world.kalij("search", "\"AND (", "nothing").status == 1)
        #expect(try world.kalij("search", " ").status == 65)
        #expect(try world.kalij("search", "cafe", "--after", "yesterday").status == 64)
        #expect(try world.kalij("search").status == 64)
    }
}
