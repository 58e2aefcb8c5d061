import KalijApp
import Testing

struct FollowingTests {
    private func play(_ events: (Int64, Following.Event)...) -> (again: [Bool], isOn: Bool) {
        var following = Following()
        let again = events.map { following.handle($1, at: $0) }
        return (again, following.isOn)
    }

    @Test func `Rows that come in a burst move the end away, and the list goes after them`() {
        let played = play(
            (0, .scrolls(toEnd: true)), (50, .moved(isAtEnd: false)), (100, .moved(isAtEnd: true)),
            (150, .moved(isAtEnd: false)))
        #expect(played == ([false, true, false, true], true))
    }

    @Test func `A person who scrolls up stays there, until the end is in sight again`() {
        #expect(
            play((0, .acted), (20, .moved(isAtEnd: false)), (5000, .moved(isAtEnd: false))) == (
                [false, false, false], false
            ))
        #expect(
            play((0, .acted), (20, .moved(isAtEnd: false)), (30, .moved(isAtEnd: true)), (5000, .moved(isAtEnd: false)))
                .again.last == true)
    }

    @Test func `A key that moves nothing ends nothing`() {
        #expect(play((0, .acted), (10, .moved(isAtEnd: true)), (5000, .moved(isAtEnd: false))).isOn)
    }

    @Test func `A row that was selected stays in sight`() {
        #expect(
            play((0, .scrolls(toEnd: false)), (50, .moved(isAtEnd: false)), (5000, .moved(isAtEnd: false))) == (
                [false, false, false], false
            ))
    }

    @Test func `A row higher than the list is not scrolled for ever`() {
        var following = Following()
        let again = (0..<50).count { _ in following.handle(.moved(isAtEnd: false), at: 0) }
        #expect(again == 10 && following.isOn)
    }
}
