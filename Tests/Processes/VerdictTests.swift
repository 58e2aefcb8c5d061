import Foundation
import KalijLab
import Testing

/// The judge of a run of kills finds every kind of fault, each in its column.
@Suite struct VerdictTests {
    @Test("a faithful run is clean in both directions")
    func clean() throws {
        let evidence = try Sample().evidence()
        #expect(evidence.incoming() == DirectionVerdict(expected: 5, found: 5))
        #expect(evidence.outgoing() == DirectionVerdict(expected: 3, unconfirmed: 1, found: 4))
        #expect(evidence.incoming().isClean && evidence.outgoing().isClean)
    }

    @Test("a message missing in the table is lost; a message that the server never archived is not")
    func lost() throws {
        var sample = try Sample()
        sample.stored.remove(at: 2)
        #expect(sample.evidence().incoming().lost == 1)
        sample = try Sample()
        sample.ownArchive.remove(at: 2)
        let verdict = sample.evidence().incoming()
        #expect(verdict.isClean && verdict.unarchived == 1)
    }

    @Test("a copy in the table, and a message sent again, are twice")
    func twice() throws {
        var sample = try Sample()
        sample.stored.append(sample.stored[0])
        #expect(sample.evidence().incoming().twice == 1)
        sample = try Sample()
        sample.peerArchive.append(2)
        #expect(sample.evidence().outgoing().twice == 1)
        sample = try Sample()
        sample.heard.append(2)
        #expect(sample.evidence().outgoing().twice == 1, "also when the archive hides it")
    }

    @Test("a message reported as of unknown outcome is not lost; it may be there, but not twice")
    func unknown() throws {
        var evidence = try Sample().evidence()
        evidence.unknown = ["r 1"]
        #expect(evidence.outgoing().isClean && evidence.outgoing().unknown == 0)
        evidence.accepted.insert(77)
        #expect(evidence.outgoing().lost == 1)
        evidence.unknown = ["r 77"]
        #expect(evidence.outgoing().isClean && evidence.outgoing().unknown == 1)
        evidence.isArchived = false
        evidence.peerArchive = []
        evidence.heard += ["r 77", "r 77"]
        #expect(evidence.outgoing().twice == 1, "the recipient is the judge")
    }

    @Test("an order different from the archive's, or from the order of acceptance, is out of order")
    func order() throws {
        var sample = try Sample()
        sample.stored.swapAt(1, 2)
        #expect(sample.evidence().incoming().outOfOrder == 1)
        sample = try Sample()
        sample.peerArchive.swapAt(0, 1)
        #expect(sample.evidence().outgoing().outOfOrder == 1)
    }

    @Test("an accepted reply that did not arrive is lost; a reply whose send was killed is not")
    func accepted() throws {
        var sample = try Sample()
        sample.peerArchive.removeAll { $0 == 3 }
        sample.heard.removeAll { $0 == 3 }
        #expect(sample.evidence().outgoing().lost == 1)
        sample = try Sample()
        sample.peerArchive.removeAll { $0 == 4 }
        sample.heard.removeAll { $0 == 4 }
        #expect(sample.evidence().outgoing().isClean)
    }

    /// ejabberd 23.01, ended with SIGTERM, had archived replies for their sender and not for the recipient.
    @Test("an accepted reply only in its sender's archive was lost by the server; a second copy counts as twice")
    func undelivered() throws {
        var sample = try Sample()
        sample.peerArchive.removeAll { $0 == 3 }
        sample.heard.removeAll { $0 == 3 }
        sample.ownReplies = [1, 2, 3, 4]
        #expect(sample.evidence().outgoing().isClean && sample.evidence().outgoing().undelivered == 1)
        sample.ownReplies = [1, 2, 3, 3, 4]
        #expect(sample.evidence().outgoing().twice == 1)
    }

    @Test("a message that nobody sent is invented")
    func invented() throws {
        var sample = try Sample()
        sample.stored.append(6)
        #expect(sample.evidence().incoming().invented == 1)
        sample = try Sample()
        sample.peerArchive.append(9)
        #expect(sample.evidence().outgoing().invented == 1)
    }
}

/// Five messages received; four replies, the last by a process killed before its exit status.
private struct Sample {
    var ownArchive = Array(1...5)
    var stored = Array(1...5)
    var peerArchive = Array(1...4)
    var heard = Array(1...4)
    /// Replies in the archive of Kalij's account.
    var ownReplies: [Int] = []
    private let decoder = JSONDecoder()

    init() throws {}

    func evidence() -> Evidence {
        Evidence(
            ownArchive: ownArchive.compactMap { entry("m \($0)") } + ownReplies.compactMap { entry("r \($0)") },
            peerArchive: peerArchive.compactMap { entry("r \($0)") },
            offered: 5, received: stored.enumerated().compactMap { row("m \($1)", position: $0) },
            heard: heard.map { "r \($0)" }, accepted: [1, 2, 3], uncertain: [4])
    }

    private func entry(_ body: String) -> ArchiveEntry? {
        try? decoder.decode(
            ArchiveEntry.self,
            from: Data(#"{"archive_id": "a", "body": "\#(body)", "encrypted": [], "parts": []}"#.utf8))
    }

    private func row(_ body: String, position: Int) -> StoredMessage? {
        let text =
            #"{"id": 1, "direction": "in", "position": \#(position), "body": "\#(body)", "encrypted": [], "parts": []}"#
        return try? decoder.decode(StoredMessage.self, from: Data(text.utf8))
    }
}
