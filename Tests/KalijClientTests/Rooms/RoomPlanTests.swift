import KalijCore
import Testing

@testable import KalijFeatures

/// The making of a group as transcripts: what happens, and what is to be done.
struct RoomPlanTests {
    private static let prefix = "muc#roomconfig_"
    private static let fields = ["persistentroom", "membersonly", "whois", "publicroom", "roomname"].map { prefix + $0 }
    private static let wanted = [
        prefix + "persistentroom": "1", prefix + "membersonly": "1", prefix + "whois": "anyone",
        prefix + "publicroom": "0", prefix + "roomname": "Balcony",
    ]

    private func play(_ events: [RoomPlan.Event], people: Bool = true, picture: Bool = false) -> (
        stage: RoomPlan.Stage, actions: [RoomPlan.Action]
    ) {
        var plan = RoomPlan(title: "Balcony", hasPeople: people, hasPicture: picture)
        let actions = events.flatMap { plan.handle($0) }
        return (plan.stage, actions)
    }

    private let made: [RoomPlan.Event] = [.begin, .found(service: "muc"), .entered, .form(fields), .configured]

    @Test("found, made, configured, checked, peopled, finished: in this order")
    func order() {
        let outcome = play(made + [.checked(isGroup: true), .nextPerson, .added])
        #expect(
            outcome == (
                .done,
                [
                    .find, .name(service: "muc"), .enter, .requestForm, .configure(Self.wanted), .check, .add, .add,
                    .finish,
                ]
            ))
        #expect(play(made + [.checked(isGroup: true)], people: false).actions.last == .finish)
    }

    @Test("the picture is set before anybody is added; a lost session sets it again")
    func picture() {
        let outcome = play(made + [.checked(isGroup: true), .pictured, .added], picture: true)
        #expect(outcome.stage == .done && outcome.actions.suffix(4) == [.check, .setPicture, .add, .finish])
        #expect(
            play(made + [.checked(isGroup: true), .pictured], people: false, picture: true).actions.suffix(2) == [
                .setPicture, .finish,
            ])
        let again: [RoomPlan.Event] = [
            .checked(isGroup: true), .sessionBegan, .checkedExistence(exists: true), .entered, .form(Self.fields),
            .configured, .checked(isGroup: true),
        ]
        #expect(play(made + again, picture: true).actions.last == .setPicture)
        #expect(play(made + [.checked(isGroup: false)], picture: true).actions.last == .destroy)
    }

    @Test("a room that cannot be a group is destroyed, and then reported")
    func notAGroup() {
        for (events, problem) in [
            (made + [.checked(isGroup: false)], Reason(.notAGroup).stored),
            (
                Array(made.prefix(3)) + [.form(Array(Self.fields.dropLast(3)))],
                Reason(.groupNotOffered, "publicroom, whois").stored
            ),
            (Array(made.prefix(4)) + [.failed("forbidden (auth)")], "forbidden (auth)"),
        ] {
            #expect(play(events).actions.last == .destroy)
            #expect(play(events + [.destroyed]).actions.last == .fail(problem))
            // Also if the session is lost before the room is destroyed.
            #expect(
                play(events + [.sessionBegan, .checkedExistence(exists: true), .entered]).actions.suffix(1) == [
                    .destroy
                ])
            #expect(
                play(events + [.sessionBegan, .checkedExistence(exists: false)]).actions.suffix(1) == [.fail(problem)])
        }
    }

    @Test("a session lost at any stage: a look, then on with what is there")
    func lostSession() {
        for count in 3...made.count {
            let events = Array(made.prefix(count)) + [.sessionBegan]
            #expect(play(events).actions.suffix(1) == [.checkExistence])
            for exists in [true, false] {
                #expect(play(events + [.checkedExistence(exists: exists)]).actions.suffix(1) == [.enter])
            }
        }
        #expect(play([.begin, .sessionBegan]).actions == [.find, .find])
    }

    @Test("a room that a lost session has made and not opened is configured from outside")
    func notOpen() {
        let events = Array(made.prefix(3)) + [.sessionBegan, .checkedExistence(exists: true), .notOpen]
        #expect(play(events).actions.suffix(1) == [.requestForm])
    }

    @Test("no service, no way in: reported, and nothing is left")
    func failures() {
        #expect(play([.begin, .found(service: nil)]).actions.last == .fail(Reason(.noRoomService).stored))
        #expect(play([.begin, .found(service: "muc"), .refused("full")]).actions.last == .fail("full"))
        #expect(play([.begin, .failed("the server does not answer")]).stage == .failed)
    }

    @Test("a failed plan changes only when the user tries again; then a new room is looked for")
    func retried() {
        let failed: [RoomPlan.Event] = made + [.checked(isGroup: false), .destroyed]
        #expect(play(failed + [.sessionBegan, .begin, .entered]).stage == .failed)
        let again = play(failed + [.retried, .begin, .found(service: "other")])
        #expect(again.stage == .entering && again.actions.suffix(3) == [.find, .name(service: "other"), .enter])
        #expect(play(made + [.retried]).stage == .checking)
    }

    @Test("answers out of turn change nothing")
    func outOfTurn() {
        for event in [RoomPlan.Event.configured, .added, .nextPerson, .destroyed, .checked(isGroup: true), .notOpen] {
            var plan = RoomPlan(title: "Balcony", hasPeople: true)
            _ = plan.handle(.begin)
            #expect(plan.handle(event) == [] && plan.stage == .finding)
        }
    }
}
