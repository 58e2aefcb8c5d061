import Testing

@testable import KalijFeatures

/// What follows from the choice in a bookmark and the choice here.
struct ChoiceMergeTests {
    private static let none = NotifyChoice.none

    private func merge(
        _ state: ChoiceMerge.State, _ listed: NotifyChoice?, now: NotifyChoice?, own: NotifyChoice?
    ) -> (ChoiceMerge.Action, ChoiceMerge) {
        var merge = ChoiceMerge(state: state, listed: listed)
        let action = merge.read(now, own: own)
        return (action, merge)
    }

    @Test("a choice of another device is adopted, also its removal; equal choices are settled")
    func adopted() {
        #expect(merge(.settled, nil, now: .all, own: nil) == (.adopt, ChoiceMerge(listed: .all)))
        #expect(merge(.settled, .all, now: Self.none, own: .all) == (.adopt, ChoiceMerge(listed: Self.none)))
        #expect(merge(.settled, .all, now: nil, own: .all) == (.adopt, ChoiceMerge()))
        for state in [ChoiceMerge.State.settled, .changed, .sent, .acknowledged] {
            #expect(merge(state, nil, now: .mentions, own: .mentions) == (.none, ChoiceMerge(listed: .mentions)))
        }
    }

    @Test("an own choice is written over any other until the server has acknowledged it, and not afterwards")
    func written() {
        for state in [ChoiceMerge.State.changed, .sent] {
            #expect(merge(state, .all, now: .all, own: Self.none).0 == .write)
            #expect(merge(state, .all, now: .mentions, own: Self.none).0 == .write)
            #expect(merge(state, .all, now: nil, own: Self.none).0 == .write)
        }
        #expect(merge(.acknowledged, .all, now: .mentions, own: Self.none) == (.adopt, ChoiceMerge(listed: .mentions)))
        #expect(merge(.acknowledged, .all, now: .all, own: Self.none) == (.adopt, ChoiceMerge(listed: .all)))
    }

    @Test("a choice that the bookmark never had is written: from before, or dropped by the server")
    func missing() {
        #expect(merge(.settled, nil, now: nil, own: Self.none).0 == .write)
        #expect(merge(.acknowledged, nil, now: nil, own: Self.none).0 == .write)
        var merge = ChoiceMerge(state: .settled, listed: Self.none)
        merge.readNothing()
        #expect(merge.read(nil, own: Self.none) == .write, "the room is in the list again")
        merge = ChoiceMerge(state: .changed, listed: .all)
        merge.readNothing()
        #expect(merge == ChoiceMerge(state: .changed), "the list is read without the room before the change is written")
    }

    @Test(
        "two devices with different choices come to rest at the one that the server has received last, in any order of reading"
    )
    func together() {
        for order in 0..<64 {
            var server: NotifyChoice? = .mentions
            var devices = [
                ChoiceMerge(state: .changed, listed: .mentions), ChoiceMerge(state: .changed, listed: .mentions),
            ]
            var own: [NotifyChoice?] = [.all, Self.none]
            var (last, writes): (NotifyChoice?, Int) = (nil, 0)
            for turn in 0..<20 {
                let device = turn < 6 ? order >> turn & 1 : turn % 2
                switch devices[device].read(server, own: own[device]) {
                case .none: break
                case .adopt: own[device] = server
                case .write:
                    server = own[device]
                    (last, writes) = (server, writes + 1)
                    devices[device].state = .acknowledged
                }
            }
            #expect(own[0] == last && own[1] == last && server == last, "order \(order)")
            #expect(writes <= 2, "order \(order)")
        }
    }
}
