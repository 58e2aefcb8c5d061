import KalijCore
import KalijStream
import Testing

@testable import KalijFeatures

/// Where an account is in a room, as transcripts: what happens, and what is to be done.
struct RoomMembershipTests {
    private func play(
        _ events: RoomMembership.Event..., from stay: RoomMembership = RoomMembership()
    ) -> (state: RoomMembership.State, actions: [RoomMembership.Action]) {
        var stay = stay
        let actions = events.flatMap { stay.handle($0) }
        return (stay.state, actions)
    }

    private func error(_ condition: StanzaError.Condition, _ kind: StanzaError.Kind? = nil) -> StanzaError {
        StanzaError(condition, kind: kind)
    }

    @Test(
        "the room is asked first, then entered; its subject ends the way in, or the answer to the ping, whichever comes first"
    )
    func entering() {
        let way: [RoomMembership.Event] = [.joinRequested, .described(shows: false), .entered(isNew: false)]
        for end in [RoomMembership.Event.subjectReceived, .pinged(.inside)] {
            var stay = RoomMembership()
            let actions = (way + [end]).flatMap { stay.handle($0) }
            #expect(stay == RoomMembership(.joined))
            #expect(actions == [.requestInfo, .join(renamed: false), .settle])
            // The other of the two changes nothing.
            #expect(stay.handle(.subjectReceived) == [] && stay.handle(.pinged(.inside)) == [])
        }
        // A subject, or an answer, before the own presence is not the end.
        #expect(play(.joinRequested, .described(shows: false), .subjectReceived).state == .joining)
    }

    @Test("a room that does not exist is not made, neither by asking nor by joining")
    func absent() {
        #expect(
            play(.joinRequested, .notDescribed(error(.itemNotFound))) == (
                .absent, [.requestInfo, .out(Reason(.noRoom))]
            ))
        #expect(
            play(.joinRequested, .described(shows: false), .entered(isNew: true)) == (
                .absent, [.requestInfo, .join(renamed: false), .leave, .out(Reason(.noRoom))]
            ))
    }

    @Test("rooms that say nothing about themselves to strangers are entered all the same; unreachable rooms later")
    func asking() {
        #expect(play(.joinRequested, .notDescribed(error(.forbidden))).state == .joining)
        for event in [
            RoomMembership.Event.unanswered, .notDescribed(error(.remoteServerNotFound)),
            .notDescribed(error(.notAllowed, .wait)),
        ] {
            #expect(play(.joinRequested, event) == (.waiting, [.requestInfo, .wait(seconds: 5)]))
        }
        #expect(play(.joinRequested, .unanswered, .due).state == .asking)
    }

    @Test("an open room in which everybody sees addresses is entered only with the user's consent")
    func consent() { #expect(play(.joinRequested, .described(shows: true)).state == .refused) }

    @Test("an attempt waits from 5 s to an hour, and from 5 s again once the room was entered")
    func waiting() {
        var stay = RoomMembership()
        _ = stay.handle(.joinRequested)
        var seconds: [Int] = []
        for _ in 0..<12 {
            for case .wait(let time) in stay.handle(.unanswered) { seconds.append(time) }
            _ = stay.handle(.due)
        }
        #expect(seconds == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600])
        for event in [RoomMembership.Event.described(shows: false), .entered(isNew: false), .subjectReceived] {
            _ = stay.handle(event)
        }
        #expect(stay.failures == 0)
        #expect(stay.handle(.removed(.technical)) == [.wait(seconds: 5)])
    }

    @Test("a taken nickname is replaced three times")
    func conflict() {
        var stay = RoomMembership(.joining)
        for _ in 0..<3 { #expect(stay.handle(.refused(error(.conflict))) == [.join(renamed: true)]) }
        #expect(stay.handle(.refused(error(.conflict))) == [.out(Reason(.nicknameTaken))])
        #expect(stay.state == .refused)
    }

    @Test(
        "the room decides who may enter; only what nobody has decided is tried again",
        arguments: [
            (StanzaError.Condition.forbidden, RoomMembership.State.refused), (.registrationRequired, .refused),
            (.notAuthorized, .refused), (.jidMalformed, .refused), (.itemNotFound, .absent), (.gone, .gone),
            (.serviceUnavailable, .waiting), (.resourceConstraint, .waiting), (.remoteServerTimeout, .waiting),
        ])
    func refused(_ condition: StanzaError.Condition, _ state: RoomMembership.State) {
        #expect(play(.refused(error(condition)), from: RoomMembership(.joining)).state == state)
    }

    @Test("whoever is removed by a decision stays out, whoever is lost comes back; a destroyed room names another")
    func removed() {
        let inside = RoomMembership(.joined)
        #expect(play(.removed(.technical), from: inside) == (.waiting, [.wait(seconds: 5)]))
        #expect(
            play(.removed(.decided(Reason(.roomBanned, ""))), from: inside) == (
                .refused, [.out(Reason(.roomBanned, ""))]
            ))
        #expect(
            play(.removed(.destroyed("other@muc", reason: "moved")), from: inside) == (
                .gone, [.destroyed("other@muc"), .out(Reason(.roomDestroyed, ": moved"))]
            ))
        // Nobody is removed from where nobody is.
        #expect(play(.removed(.decided(Reason(.roomBanned, ""))), from: RoomMembership(.asking)) == (.asking, []))
    }

    @Test("a doubt is settled by a self-ping; who is not inside joins again; no answer proves nothing")
    func doubt() {
        let inside = RoomMembership(.joined)
        #expect(play(.doubted, .pinged(.inside), from: inside) == (.joined, [.ping, .confirm]))
        #expect(play(.doubted, .pinged(.unknown), from: inside) == (.joined, [.ping]))
        #expect(play(.doubted, .pinged(.outside), from: inside) == (.asking, [.ping, .requestInfo]))
        #expect(play(.notAcceptable, from: inside) == (.asking, [.requestInfo]))
        // Without an answer nobody is in.
        #expect(play(.pinged(.unknown), from: RoomMembership(.entering)) == (.waiting, [.wait(seconds: 5)]))
    }

    @Test("a new session joins what is wanted; a resumed session joins nothing; the user decides about refused rooms")
    func sessions() {
        for state in [RoomMembership.State.joined, .doubtful, .entering, .waiting, .asking] {
            #expect(play(.sessionBegan, from: RoomMembership(state)) == (.asking, [.requestInfo]))
        }
        for state in [RoomMembership.State.left, .refused, .absent, .gone] {
            #expect(play(.sessionBegan, from: RoomMembership(state)) == (state, []))
            #expect(play(.joinRequested, from: RoomMembership(state)) == (.asking, [.requestInfo]))
        }
    }

    @Test("leaving tells the room, if the account is there or on the way")
    func leaving() {
        for state in [RoomMembership.State.joined, .entering, .joining] {
            #expect(play(.leaveRequested, from: RoomMembership(state)) == (.left, [.leave, .out(nil)]))
        }
        for state in [RoomMembership.State.asking, .waiting, .refused, .gone] {
            #expect(play(.leaveRequested, from: RoomMembership(state)) == (.left, [.out(nil)]))
        }
        // What comes later changes nothing.
        for event in [
            RoomMembership.Event.described(shows: false), .entered(isNew: false), .subjectReceived, .due,
            .pinged(.outside),
        ] {
            #expect(play(event, from: RoomMembership(.left)) == (.left, []))
        }
    }
}
