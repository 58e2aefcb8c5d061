import KalijTransport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijCore

/// What bytes and answers say of a link, and how long an answer may take: values, without socket and clock.
struct LinkMeterTests {
    @Test("as long as nothing was measured an answer has four seconds, and a silence sixty")
    func unknown() {
        let measure = LinkMeasurement()
        #expect(measure.timeout() == 4)
        #expect(measure.silence() == 60)
        #expect(measure.timeout(behind: 1_000_000) == 4, "no rate is known")
        #expect(measure.letter == 16)
    }

    @Test(
        "a timeout is never under two seconds, grows with the variation and with the bytes in front, and is at most sixty"
    )
    func timeouts() {
        #expect(LinkMeasurement(roundTrip: 0.001, variation: 0.001).timeout() == 2)
        #expect(LinkMeasurement(roundTrip: 0.5, variation: 1).timeout() == 4.5)
        let slow = LinkMeasurement(roundTrip: 0.5, variation: 0.1, bytesPerSecond: 4000)
        #expect(slow.timeout(behind: 40_000) == 12)
        #expect(slow.timeout(behind: 4_000_000) == 60)
        #expect(slow.silence() == 30)
        #expect(slow.silence(behind: 40_000) == 60)
    }

    @Test("an answer behind few bytes shows the round trip, smoothed; an answer behind many does not")
    func roundTrips() {
        var meter = LinkMeter()
        meter.roundTripBegan(at: 10)
        meter.arrived(55, isMoreExpected: true, at: 10.5)
        meter.roundTripEnded(at: 10.5)
        #expect(meter.measure.roundTrip == 0.5)
        #expect(meter.measure.variation == 0.25)
        meter.roundTripBegan(at: 20)
        meter.arrived(55, isMoreExpected: true, at: 21.3)
        meter.roundTripEnded(at: 21.3)
        #expect(abs((meter.measure.roundTrip ?? 0) - 0.6) < 0.001)
        meter.roundTripBegan(at: 30)
        meter.arrived(100_000, isMoreExpected: true, at: 60)
        meter.roundTripEnded(at: 60)
        #expect(abs((meter.measure.roundTrip ?? 0) - 0.6) < 0.001)
        meter.roundTripEnded(at: 70)
        #expect(abs((meter.measure.roundTrip ?? 0) - 0.6) < 0.001, "nothing was asked")
    }

    @Test("the slower counts: TCP behind a proxy that ends TCP, or our own questions")
    func slower() {
        var meter = LinkMeter()
        meter.noticed(RoundTrip(smoothed: 0.01, variance: 0.005))
        #expect(meter.measure.roundTrip == 0.01)
        meter.roundTripBegan(at: 0)
        meter.roundTripEnded(at: 0.8)
        #expect(meter.measure.roundTrip == 0.8)
        meter.noticed(RoundTrip(smoothed: 2, variance: 0.5))
        #expect(meter.measure.roundTrip == 2)
        meter.noticed(nil)
        #expect(meter.measure.roundTrip == 0.8)
    }

    @Test("certificates over 32 kbit/s give a first guess, and the first page the rate")
    func rate() {
        var meter = LinkMeter()
        meter.secured(HandshakeTimes(connect: 0.5, handshake: 1.75, received: 5000))
        #expect(meter.measure.bytesPerSecond == 4000)
        for turn in 0...40 { meter.arrived(1000, isMoreExpected: turn < 40, at: Double(turn) / 3) }
        #expect(abs((meter.measure.bytesPerSecond ?? 0) - 3000) < 1)
        for turn in 0...40 { meter.arrived(1000, isMoreExpected: turn < 40, at: 100 + Double(turn)) }
        #expect(abs((meter.measure.bytesPerSecond ?? 0) - 2000) < 1, "half of the old rate, and half of the new")
    }

    @Test("a handshake tells that the way is another one than at the last connection")
    func otherWay() {
        let home = LinkMeasurement(roundTrip: 0.02, variation: 0.01, bytesPerSecond: 700_000)
        var train = LinkMeter(home)
        train.secured(HandshakeTimes(connect: 0.5, handshake: 1.25, received: 3000))
        #expect(train.measure.bytesPerSecond == 4000)
        var busy = LinkMeter(home)
        busy.secured(HandshakeTimes(connect: 0.02, handshake: 0.22, received: 3000))
        #expect(busy.measure.bytesPerSecond == 700_000, "a server that works for a while")
        var back = LinkMeter(train.measure)
        back.secured(HandshakeTimes(connect: 0.02, handshake: 0.04, received: 3000))
        #expect(abs((back.measure.bytesPerSecond ?? 0) - 150_000) < 1)
    }

    @Test("where a proxy answers for TCP the first answer of the server counts, not the proxy's")
    func proxy() {
        var meter = LinkMeter()
        meter.secured(HandshakeTimes(connect: 0.001, handshake: 1, received: 3000))
        meter.roundTripBegan(at: 10)
        meter.roundTripEnded(at: 10.8)
        #expect(abs((meter.measure.roundTrip ?? 0) - 0.8) < 0.001)
    }

    @Test("a friend who writes slowly, a resumed TLS session and a few bytes say nothing of the rate")
    func noRate() {
        var meter = LinkMeter()
        meter.secured(HandshakeTimes(connect: 0, handshake: 0.6, received: 250))
        for turn in 0..<100 { meter.arrived(1400, isMoreExpected: false, at: Double(turn)) }
        meter.arrived(100, isMoreExpected: true, at: 200)
        meter.arrived(100, isMoreExpected: false, at: 230)
        #expect(meter.measure.bytesPerSecond == nil)
    }

    @Test("a long burst is judged while it lasts, and a link that falls to a quarter is noticed")
    func falling() {
        var meter = LinkMeter(LinkMeasurement(roundTrip: 0.5, variation: 0.1, bytesPerSecond: 4000))
        for turn in 0..<200 { meter.arrived(1000, isMoreExpected: true, at: Double(turn)) }
        #expect((meter.measure.bytesPerSecond ?? 4000) < 2000)
    }
}
