import Testing

@testable import KalijFeatures
@testable import KalijCore

/// `../shared/design/media.md`, rules 2 to 6, as transcripts.
struct UploadPlanTests {
    private static let slot = UploadSlot(put: "https://up.example.org/1", get: "https://down.example.org/1")
    private static let hour: Int64 = 3_600_000

    /// Plays events at the given times, in milliseconds.
    /// - Returns: each action, or `-`.
    private func play(
        _ plan: inout UploadPlan, _ events: (Int64, UploadPlan.Event)...
    ) -> [String] {
        events.map { plan.handle($1, now: $0, random: 0).map { "\($0)" } ?? "-" }
    }

    @Test("a file is asked for, put, sealed, and announced after 201")
    func straight() {
        var plan = UploadPlan()
        let actions = play(
            &plan, (0, .begin), (1, .slot(Self.slot)), (2, .seal), (3, .put(.status(201, retryAfter: nil))))
        #expect(actions == ["requestSlot", "put", "-", "finish"])
        #expect(plan.stage == .done)
    }

    @Test("before the seal the server cannot have the file: not even 201 is believed, and nobody looks")
    func unsealed() {
        for status in [200, 201, 204, 401, 403, 404, 409, 410, 500] {
            var plan = UploadPlan()
            _ = play(&plan, (0, .begin), (1, .slot(Self.slot)))
            #expect(play(&plan, (2, .put(.status(status, retryAfter: nil)))) == ["-"])
            #expect(plan.stage == .waiting && plan.notBefore == 0 && plan.slot == nil, "\(status)")
        }
    }

    @Test("behind the seal only 201 is success; everything else is looked for, at once, and again after 2, 8 and 30 s")
    func looking() {
        for end in [
            UploadResult.cut("cut"), .stopped, .status(200, retryAfter: nil), .status(204, retryAfter: nil),
            .status(500, retryAfter: nil),
        ] {
            var plan = UploadPlan()
            _ = play(&plan, (0, .begin), (1, .slot(Self.slot)), (2, .seal))
            #expect(play(&plan, (3, .put(end))) == ["-"])
            #expect(plan.stage == .sealed && plan.notBefore == 0, "\(end)")
            var times: [Int64] = []
            for _ in 0..<3 {
                #expect(play(&plan, (1000, .check(.missing))) == ["-"])
                times.append(plan.notBefore - 1000)
            }
            #expect(times == [2000, 8000, 30_000])
            #expect(play(&plan, (50_000, .check(.missing))) == ["-"])
            #expect(plan.stage == .waiting && plan.notBefore == 0)
        }
    }

    @Test("a HEAD with exactly the length is success, however the PUT has ended")
    func found() {
        var plan = UploadPlan()
        let actions = play(
            &plan, (0, .begin), (1, .slot(Self.slot)), (2, .seal), (3, .put(.cut("cut"))), (4, .check(.missing)),
            (2100, .check(.unknown("no network"))), (9000, .check(.whole)))
        #expect(actions.last == "finish")
    }

    @Test("a HEAD without an answer says nothing: the file is looked for until somebody answers")
    func noAnswer() {
        var plan = UploadPlan()
        _ = play(&plan, (0, .begin), (1, .slot(Self.slot)), (2, .seal), (3, .put(.cut("cut"))))
        for time in 1...100 { #expect(play(&plan, (Int64(time) * Self.hour, .check(.unknown("no network")))) == ["-"]) }
        #expect(plan.stage == .sealed)
    }

    @Test("three slots in an hour that the server then refuses; the next after the hour")
    func slots() {
        var plan = UploadPlan()
        for time in 1...3 {
            _ = play(
                &plan, (Int64(time), .begin), (Int64(time), .slot(Self.slot)),
                (Int64(time), .put(.status(403, retryAfter: nil))))
            #expect(plan.notBefore == 0)
        }
        _ = play(&plan, (10, .begin), (11, .slot(Self.slot)), (12, .put(.status(403, retryAfter: nil))))
        #expect(plan.stage == .waiting && plan.notBefore > 12 + Self.hour / 2)
    }

    @Test("413 twice fails: a proxy's limit; 3xx fails; 429 and 5xx wait as long as the server asks")
    func statuses() {
        var plan = UploadPlan()
        _ = play(&plan, (0, .begin), (1, .slot(Self.slot)), (2, .put(.status(413, retryAfter: nil))))
        #expect(plan.stage == .waiting)
        #expect(
            play(&plan, (3, .begin), (4, .slot(Self.slot)), (5, .put(.status(413, retryAfter: nil)))).last
                == "fail(the server takes no file of this size)")
        #expect(plan.stage == .failed)
        for (status, isFailed) in [(301, true), (308, true), (400, true), (429, false), (502, false), (503, false)] {
            var plan = UploadPlan()
            _ = play(&plan, (0, .begin), (1, .slot(Self.slot)), (2, .put(.status(status, retryAfter: 90_000))))
            #expect((plan.stage == .failed) == isFailed, "\(status)")
            if !isFailed { #expect(plan.notBefore == 90_002) }
        }
    }

    @Test("cuts wait from a second to an hour, and up to a half less")
    func backOff() {
        var plan = UploadPlan()
        var waits: [Int64] = []
        for _ in 0..<14 {
            _ = play(&plan, (0, .begin), (0, .slot(Self.slot)), (0, .put(.cut("cut"))))
            waits.append(plan.notBefore)
            #expect(plan.reason == "connection-lost: cut")
        }
        #expect(waits.prefix(3) == [1000, 2000, 4000])
        #expect(waits.last == Self.hour)
        _ = plan.handle(.begin, now: 0, random: 0)
        _ = plan.handle(.slot(Self.slot), now: 0, random: 0)
        _ = plan.handle(.put(.cut("cut")), now: 0, random: 0.999)
        #expect(plan.notBefore > Self.hour / 2 - 1 && plan.notBefore < Self.hour)
    }

    @Test("what this process has ended counts as no failure")
    func stopped() {
        var plan = UploadPlan()
        _ = play(&plan, (0, .begin), (1, .slot(Self.slot)), (2, .put(.stopped)))
        #expect(plan.stage == .waiting && plan.failures == 0 && plan.notBefore == 0)
    }

    @Test("410 behind the seal, 240 s after the slot was asked for, is too slow: a day later, if the file is not there")
    func tooSlow() {
        var plan = UploadPlan()
        _ = play(
            &plan, (0, .begin), (1, .slot(Self.slot)), (2, .seal), (320_000, .put(.status(410, retryAfter: nil))),
            (321_000, .check(.missing)))
        #expect(plan.stage == .waiting && plan.notBefore == 321_000 + 24 * Self.hour)
        #expect(plan.reason?.hasPrefix("too-slow") ?? false)
        // The answer was wrong.
        var other = UploadPlan()
        let actions = play(
            &other, (0, .begin), (1, .slot(Self.slot)), (2, .seal), (320_000, .put(.status(410, retryAfter: nil))),
            (321_000, .check(.whole)))
        #expect(actions.last == "finish")
    }

    @Test("a slot's refusal fails for good, waits until a time, or is asked for again after a minute")
    func refusals() {
        var plan = UploadPlan()
        #expect(
            play(&plan, (0, .begin), (1, .slotRefused(.forGood(Reason(.fileNotTaken))))) == [
                "requestSlot", "fail(the server takes no file of this size)",
            ])
        var later = UploadPlan()
        _ = play(&later, (0, .begin), (1, .slotRefused(.until(5000, "quota"))))
        #expect(later.stage == .waiting && later.notBefore == 5000)
        var again = UploadPlan()
        _ = play(&again, (0, .begin), (1, .slotRefused(.forNow("busy"))))
        #expect(again.notBefore == 60_001)
    }

    @Test("without a service a file waits for a week")
    func noService() {
        var plan = UploadPlan()
        #expect(play(&plan, (0, .noService(until: 5000))) == ["-"])
        #expect(plan.reason?.hasPrefix("no-upload-service") ?? false)
        #expect(play(&plan, (5000, .noService(until: 5000))).first?.hasPrefix("fail") ?? false)
    }

    @Test("late events change nothing")
    func late() {
        var plan = UploadPlan()
        _ = play(
            &plan, (0, .begin), (1, .slot(Self.slot)), (2, .seal), (3, .put(.status(201, retryAfter: nil))))
        let done = plan
        _ = play(
            &plan, (4, .slot(Self.slot)), (5, .seal), (6, .put(.cut("cut"))), (7, .check(.missing)), (8, .retry),
            (9, .slotLost), (10, .begin), (11, .needsForeground))
        #expect(plan == done)
    }
}
