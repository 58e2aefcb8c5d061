import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// A server that asks and does not read: what its questions cause has a bound.
struct UnreadAnswersTests {
    private static let question = "<r xmlns='urn:xmpp:sm:3'/>"

    private func requests(_ numbers: Range<Int>) -> String {
        numbers.map {
            "<iq type='get' id='q\($0)' from='example.org'><ping xmlns='urn:xmpp:ping'/></iq>"
        }.joined()
    }

    @Test("for a server that reads nothing no <a/> is kept in memory; each comes once it reads again")
    func acknowledgements() throws {
        let driven = try ConnectedDriver()
        func answers() -> Int { driven.wire.sent.count { $0.hasPrefix("<a ") } }
        driven.wire.unsent = 300_000
        let before = answers()
        for _ in 0..<10 { driven.receive(String(repeating: Self.question, count: 100)) }
        #expect(answers() == before)
        driven.wire.unsent = 0
        driven.wire.events(.drained)
        driven.turn { answers() == before + 1000 }
        #expect(answers() == before + 1000)
    }

    @Test("a server that asks and reads nothing is not read any more, and is as soon as it reads")
    func requests() throws {
        let driven = try ConnectedDriver()
        driven.wire.unsent = 300_000
        var asked = 0
        while driven.wire.isReading, asked < 5000 {
            driven.receive(requests(asked..<(asked + 100)))
            asked += 100
        }
        #expect(!driven.wire.isReading)
        #expect(try driven.harness.number("SELECT count(*) FROM queue") ?? 0 <= Int64(OwedAnswers.maxUnwritten + 100))
        // Neither the end of a pause begins to read.
        driven.driver.pause(true)
        driven.driver.pause(false)
        #expect(!driven.wire.isReading)
        driven.wire.unsent = 0
        driven.wire.events(.drained)
        driven.turn { driven.wire.isReading }
        #expect(driven.wire.isReading)
        #expect(driven.wire.sent.count { $0.hasPrefix("<iq ") && $0.contains("id='q") } == asked)
    }

    @Test("a server that takes answers without end and acknowledges none is left; one that acknowledges is not")
    func unacknowledged() {
        var answers = OwedAnswers()
        for _ in 0..<1000 {
            answers.queued(100)
            _ = answers.written()
            answers.acknowledged(100)
        }
        #expect(!answers.areRefused && answers.mayRead)
        for _ in 0..<100 {
            answers.queued(100)
            _ = answers.written()
        }
        #expect(answers.areRefused)
        var unmanaged = OwedAnswers()
        unmanaged.queued(OwedAnswers.maxUnacknowledged, isManaged: false)
        #expect(!unmanaged.mayRead)
        let goesOn = unmanaged.written()
        #expect(goesOn)
        #expect(!unmanaged.areRefused && unmanaged.mayRead)
    }
}
