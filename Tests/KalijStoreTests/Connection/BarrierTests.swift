import Foundation
import KalijStore
import TestSupport
import Testing

@Suite struct BarrierTests {
    @Test("Each barrier changes a page, because a FULL commit that changes nothing syncs nothing")
    func grows() throws {
        let directory = try ScratchDirectory()
        let database = try Database(path: directory.file("a.db"), durability: .process)
        try database.execute(Barrier.schema)
        let barrier = try Barrier(path: database.path)
        for expected in 1...3 {
            try barrier.raise()
            #expect(try database.prepare("SELECT number FROM barrier").first { $0.integer(0) } == Int64(expected))
        }
    }
}
