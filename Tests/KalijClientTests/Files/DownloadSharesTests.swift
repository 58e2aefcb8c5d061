import Testing

@testable import KalijFeatures
@testable import KalijClient

/// Slow strangers hold no places but their own: Downloads, DownloadShares.
struct DownloadSharesTests {
    /// The shares as an object, for expectations.
    private final class Shares {
        var value = DownloadShares()
        func take(_ message: Int64, _ place: DownloadShares.Place) -> Bool { value.acquire(message, place) }
    }

    private func place(_ sender: String, _ host: String, automatic: Bool = true) -> DownloadShares.Place {
        DownloadShares.Place(sender: sender, host: host, isAutomatic: automatic)
    }

    @Test("of what fetches itself, a sender has one place, and a host")
    func automatic() {
        let shares = Shares()
        #expect(shares.take(1, place("mallory@a.example", "slow.example")))
        #expect(!shares.take(2, place("mallory@a.example", "other.example")))
        #expect(!shares.take(3, place("trudy@b.example", "slow.example")))
        #expect(shares.take(4, place("romeo@c.example", "files.example")))
        #expect(shares.take(5, place("nurse@d.example", "nurse.example")))
        #expect(!shares.take(6, place("paris@e.example", "paris.example")))
        shares.value.end(1)
        #expect(shares.take(3, place("trudy@b.example", "slow.example")))
    }

    @Test("the user's own request waits for nothing that fetches itself, and two slow files hold up their host alone")
    func wanted() {
        let shares = Shares()
        for (number, name) in ["a", "b", "c"].enumerated() {
            #expect(shares.take(Int64(number), place(name, name)))
        }
        #expect(!shares.value.hasRoom(automatic: true))
        #expect(shares.take(10, place("mallory@a.example", "slow.example", automatic: false)))
        #expect(shares.take(11, place("trudy@b.example", "slow.example", automatic: false)))
        #expect(!shares.take(12, place("romeo@c.example", "slow.example", automatic: false)))
        #expect(shares.take(13, place("mallory@a.example", "files.example", automatic: false)))
        #expect(shares.take(14, place("romeo@c.example", "romeo.example", automatic: false)))
        #expect(!shares.take(15, place("nurse@d.example", "nurse.example", automatic: false)))
    }

    @Test("a file that fetches itself and that the user asks for gives its place to others that fetch themselves")
    func asked() {
        let shares = Shares()
        #expect(shares.take(1, place("romeo@c.example", "files.example")))
        #expect(!shares.take(2, place("romeo@c.example", "files.example")))
        shares.value.markRequested(1)
        #expect(shares.take(2, place("romeo@c.example", "files.example")))
    }

    @Test("what fetches itself comes at a least rate; what the user asks for may be as slow as before")
    func rate() {
        #expect(DownloadShares.limits(automatic: true).lowSpeed == 2000)
        #expect(DownloadShares.limits(automatic: false).lowSpeed == 100)
    }
}
