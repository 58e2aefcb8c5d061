import Testing

@testable import KalijFeatures

/// Push as transcripts: what happens, and what is to be done.
struct PushStateTests {
    private let first = PushTarget(service: "push.example.com", node: "one", module: "m", secret: nil)
    private let second = PushTarget(service: "push.example.com", node: "two", module: "m", secret: nil)

    private func play(_ events: PushState.Event...) -> (stage: PushState.Stage, actions: [PushState.Action]) {
        var state = PushState()
        let actions = events.flatMap { state.handle($0) }
        return (state.stage, actions)
    }

    @Test("push is enabled at once in a session, and in each new session again")
    func eachSession() {
        let outcome = play(.requested(first, isOnline: true), .answered, .sessionLost, .sessionBegan, .answered)
        #expect(
            outcome == (.enabled, [.enable(first), .confirmed, .retryLater, .enable(first), .confirmed, .retryLater]))
    }

    @Test("without a session the wish waits for the next session; in a resumed session nothing is asked")
    func waits() {
        #expect(play(.requested(first, isOnline: false)) == (.waiting, []))
        #expect(play(.requested(first, isOnline: false), .sessionBegan) == (.enabling, [.enable(first)]))
        #expect(play(.sessionBegan) == (.off, []))
    }

    @Test("a wish between the bind and the first presence is not left to the next session")
    func betweenBindAndPresence() {
        let outcome = play(.sessionBegan, .requested(first, isOnline: false), .available, .answered, .available)
        #expect(outcome == (.enabled, [.enable(first), .confirmed, .retryLater]))
    }

    @Test("another token: the old one is disabled, the answer awaited, then the new one is enabled")
    func otherToken() {
        var state = PushState()
        _ = state.handle(.requested(first, isOnline: true))
        _ = state.handle(.answered)
        #expect(state.handle(.requested(second, isOnline: true)) == [.disable(first)])
        #expect(state.handle(.answered) == [.enable(second)])
        #expect(state.handle(.answered) == [.confirmed, .retryLater])
    }

    @Test("a session lost before the old token was disabled: the new session disables it first")
    func lostWhileDisabling() {
        var state = PushState()
        _ = state.handle(.requested(first, isOnline: true))
        _ = state.handle(.answered)
        _ = state.handle(.requested(second, isOnline: true))
        _ = state.handle(.sessionLost)
        #expect(state.handle(.sessionBegan) == [.disable(first)])
        // A server that has forgotten the old token answers with an error.
        #expect(state.handle(.refused("item-not-found")) == [.enable(second)])
    }

    @Test("disabled is disabled only after the server's answer, also in a later session")
    func disabling() {
        var state = PushState()
        _ = state.handle(.requested(first, isOnline: true))
        _ = state.handle(.answered)
        #expect(state.handle(.requested(nil, isOnline: false)) == [])
        #expect(state.handle(.sessionBegan) == [.disable(first)])
        #expect(state.handle(.answered) == [.confirmed])
        #expect(state == PushState(attempts: 1))
    }

    @Test("a server without push refuses; one that is silent is asked three times in a session, and again in the next")
    func refusals() {
        #expect(
            play(.requested(first, isOnline: true), .refused("service-unavailable"))
                == (.refused, [.enable(first), .failed("service-unavailable")]))
        var state = PushState()
        let events: [PushState.Event] = [.requested(first, isOnline: true), .unanswered, .unanswered, .unanswered]
        let actions = events.flatMap { state.handle($0) }
        #expect(actions.count { $0 == .enable(first) } == 3)
        #expect(actions.last == .failed("the server does not answer; asked again in the next session"))
        #expect(state.handle(.sessionBegan) == [.enable(first)])
    }

    @Test("enabled again after a day, without a change of the outcome")
    func daily() {
        #expect(play(.requested(first, isOnline: true), .answered, .due).actions.suffix(1) == [.enable(first)])
        #expect(play(.requested(first, isOnline: true), .due).actions == [.enable(first)])
    }
}
