import KalijStore
import KalijStream
import KalijTransport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// When the driver connects again: values that take events and return actions, without socket, clock or disk.
struct ReconnectingTests {
    @Test("each failure doubles the delay up to the longest; a session that lasted, or another network, begins anew")
    func backoff() {
        var reconnecting = ReconnectPolicy(longest: 5)
        func fail() -> Double {
            reconnecting.ended(isResumePending: false)
            return reconnecting.delay(random: 1)
        }
        #expect([fail(), fail(), fail(), fail(), fail()] == [1, 2, 4, 5, 5])
        reconnecting.established()
        #expect(fail() == 5, "a session that ends at once proves nothing")
        reconnecting.established()
        reconnecting.lasted()
        #expect([fail(), fail()] == [1, 2])
        reconnecting.networkChanged()
        #expect(fail() == 1)
    }

    @Test("after a stanza that could not be handled the next connection comes soon, until all attempts are used up")
    func failedStanza() {
        var reconnecting = ReconnectPolicy(longest: 60)
        func fail() -> Double {
            reconnecting.established()
            reconnecting.stanzaFailed()
            reconnecting.ended(isResumePending: false)
            return reconnecting.delay(random: 0.5)
        }
        func soon() -> Bool { (1...Attempts.last).map { _ in fail() }.allSatisfy { $0 == 1.5 } }
        #expect(soon())
        #expect((1...6).map { _ in fail() }.max() ?? 0 > 10, "not for ever: a server may forget each session")
        reconnecting.stanzaSetAside()
        #expect(soon(), "the archive may show the stanza again")
        reconnecting.lasted()
        #expect(soon())
    }

    @Test("after a letter that fails the next connection is made at once, but not for ever")
    func hasty() {
        var reconnecting = ReconnectPolicy(longest: 5)
        func answers() -> [Bool] { (1...9).map { _ in reconnecting.letterFailed() } }
        let wanted = [Bool](repeating: true, count: 8) + [false]
        #expect(answers() == wanted && !reconnecting.abandonsSession)
        reconnecting.lasted()
        same(reconnecting.letterFailed(), false, "no session was there")
        #expect(reconnecting.abandonsSession, "without a session to resume the login goes by steps")
        reconnecting.established()
        #expect(answers() == wanted)
        reconnecting.networkChanged()
        #expect(answers() == wanted)
    }

    @Test(
        "a session is given up after two connections that ended without an answer to <resume/>, or one stream error there"
    )
    func unanswered() {
        var reconnecting = ReconnectPolicy(longest: 5)
        for isPending in [false, true, false] { reconnecting.ended(isResumePending: isPending) }
        #expect(!reconnecting.abandonsSession)
        reconnecting.ended(isResumePending: true)
        #expect(reconnecting.abandonsSession)
        reconnecting.sessionAbandoned()
        #expect(!reconnecting.abandonsSession)
        reconnecting.resumeCut()
        reconnecting.ended(isResumePending: true)
        #expect(reconnecting.abandonsSession)
        reconnecting.established()
        #expect(!reconnecting.abandonsSession)
    }

    @Test("a session is given up after three connections in a row in which the server acknowledged nothing")
    func silent() {
        var reconnecting = ReconnectPolicy(longest: 5)
        func connect(isAnswered: Bool) {
            reconnecting.established()
            if isAnswered { reconnecting.acknowledged() }
            reconnecting.fellSilent()
            reconnecting.ended(isResumePending: false)
        }
        for isAnswered in [false, false, true, false] { connect(isAnswered: isAnswered) }
        #expect(!reconnecting.abandonsSession)
        connect(isAnswered: false)
        #expect(reconnecting.abandonsSession)
        reconnecting.sessionAbandoned()
        #expect(!reconnecting.abandonsSession)
    }

    @Test("a database that cannot be written is waited for, longer each time; that it can is news once")
    func storage() {
        var storage = StorageBackoff(longest: 3)
        same(storage.worked(), false)
        same(storage.failed(random: 1), 1)
        #expect(storage.isWaiting)
        same(storage.worked(), false, "something was done that needs no room")
        storage.resume()
        same(storage.failed(random: 0.5), 1)
        storage.resume()
        same(storage.failed(random: 1), 3)
        storage.resume()
        same(storage.worked(), true)
        same(storage.worked(), false)
        same(storage.failed(random: 1), 1)
    }

    @Test("who is to blame decides what becomes of an error")
    func consequences() {
        func name(_ error: any Error) -> String { "\(ErrorDisposition(of: error))".prefix { $0 != "(" }.description }
        #expect(name(StoreError(.full, "")) == "wait")
        #expect(name(StoreError(.busy, "")) == "wait")
        #expect(name(StoreError(.corrupt, "")) == "stop")
        #expect(name(NegotiationError.closed(during: "")) == "negotiation")
        #expect(name(StreamManagementError.invalidCount) == "disconnect")
        #expect(name(StreamFailure.closed) == "disconnect")
        #expect(name(StreamFailure.stream(StreamError(.policyViolation))) == "blame")
        #expect(name(StoreError(.constraint, "")) == "careful")
        #expect(name(CancellationError()) == "careful")
    }

    @Test("a resource that is taken once stays: a server read the late resumption of a process that had ended")
    func conflict() {
        var reconnecting = ReconnectPolicy(longest: 60)
        reconnecting.sessionReplaced(random: 0.5)
        #expect(reconnecting.otherResource == nil)
        reconnecting.sessionReplaced(random: 0.5)
        #expect(reconnecting.otherResource != nil)
    }
}
