import Testing

@testable import KalijFeatures

/// The publishing of the own keys as transcripts: what happens, and what is to be done.
struct KeyPublicationStateTests {
    private func play(
        _ state: KeyPublicationState = KeyPublicationState(), _ events: KeyPublicationState.Event...
    ) -> (stage: KeyPublicationState.Stage, actions: [KeyPublicationState.Action]) {
        var state = state
        let actions = events.flatMap { state.handle($0) }
        return (state.stage, actions)
    }

    private let published = KeyPublicationState(.off, isListed: true, isDue: false)

    @Test("a new device reads the list, looks for its id, publishes the bundle, and then the list")
    func first() {
        let outcome = play(KeyPublicationState(), .began, .list(hasThisDevice: false), .bundle(.nothing), .done, .done)
        #expect(
            outcome == (
                .ready,
                [
                    .requestList, .requestBundle, .publishBundle(withOptions: true), .publishList(withOptions: true),
                    .opened,
                ]
            ))
    }

    @Test("in a later session nothing is published if everything is there")
    func later() {
        let outcome = play(published, .began, .list(hasThisDevice: true), .bundle(.same))
        #expect(outcome == (.ready, [.requestList, .requestBundle, .opened]))
    }

    @Test("a bundle that is missing, or old, is published again; one of the future means an old database")
    func bundles() {
        for found in [KeyPublicationState.Found.nothing, .old, .foreign(overwrite: true)] {
            let outcome = play(published, .began, .list(hasThisDevice: true), .bundle(found), .done)
            #expect(
                outcome.actions == [.requestList, .requestBundle, .publishBundle(withOptions: true), .opened],
                "\(found)")
        }
        let outcome = play(published, .began, .list(hasThisDevice: true), .bundle(.newer), .done)
        #expect(
            outcome.actions == [.requestList, .requestBundle, .restored, .publishBundle(withOptions: true), .opened])
    }

    @Test("an id that somebody else has is given up")
    func foreign() {
        let outcome = play(
            KeyPublicationState(), .began, .list(hasThisDevice: false), .bundle(.foreign(overwrite: false)),
            .bundle(.nothing))
        #expect(
            outcome.actions == [
                .requestList, .requestBundle, .newID, .requestBundle, .publishBundle(withOptions: true),
            ])
    }

    @Test("a node with another configuration is configured, and published to without options")
    func configured() {
        let outcome = play(
            KeyPublicationState(), .began, .list(hasThisDevice: false), .bundle(.nothing), .otherwiseConfigured, .done,
            .done,
            .otherwiseConfigured, .done, .done)
        #expect(
            outcome == (
                .ready,
                [
                    .requestList, .requestBundle, .publishBundle(withOptions: true), .configureBundle,
                    .publishBundle(withOptions: false), .publishList(withOptions: true), .configureList,
                    .publishList(withOptions: false), .opened,
                ]
            ))
    }

    @Test(
        "a server without the options: the node is configured before anything is published to it, or made if there is none"
    )
    func withoutOptions() {
        let due = KeyPublicationState(.ready, isListed: true, isDue: false)
        let known = play(due, .changed, .optionsRefused, .done, .done)
        #expect(
            known == (
                .ready,
                [.publishBundle(withOptions: true), .configureBundle, .publishBundle(withOptions: false), .opened]
            ))
        let made = play(due, .changed, .optionsRefused, .nodeMissing, .done, .done, .done)
        #expect(
            made == (
                .ready,
                [
                    .publishBundle(withOptions: true), .configureBundle, .publishBundle(withOptions: false),
                    .configureBundle, .publishBundle(withOptions: false), .opened,
                ]
            ))
        #expect(play(due, .changed, .optionsRefused, .nodeMissing, .done, .nodeMissing).stage == .refused)
    }

    @Test("a question without an answer is asked three times; a refusal ends the session's attempts")
    func silence() {
        let outcome = play(KeyPublicationState(), .began, .unanswered, .unanswered, .unanswered)
        #expect(
            outcome == (.refused, [.requestList, .requestList, .requestList, .failed("the server does not answer")]))
        #expect(play(KeyPublicationState(), .began, .refused("no")) == (.refused, [.requestList, .failed("no")]))
    }

    @Test("removed from the list, the device goes back; with changed keys it publishes them; in other stages both wait")
    func changes() {
        let ready = KeyPublicationState(.ready, isListed: true, isDue: false)
        #expect(play(ready, .removed, .done) == (.ready, [.publishList(withOptions: true), .opened]))
        #expect(play(ready, .changed, .done) == (.ready, [.publishBundle(withOptions: true), .opened]))
        let early = play(published, .began, .changed, .list(hasThisDevice: true), .bundle(.same))
        #expect(early.actions == [.requestList, .requestBundle, .publishBundle(withOptions: true)])
        #expect(play(ready, .sessionLost, .removed, .changed, .done) == (.off, []))
    }
}
