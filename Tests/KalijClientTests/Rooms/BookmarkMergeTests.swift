import Testing

@testable import KalijFeatures

/// The list of rooms, three ways: before, now, own changes.
struct BookmarkMergeTests {
    typealias Entry = BookmarkMerge.Entry
    private let joined = Entry(autojoin: true, nick: "j")
    private let left = Entry(autojoin: false, nick: "j")

    private func actions(
        before base: Entry?, now: Entry?, wanted: Bool, _ change: BookmarkMerge.Change = .none, recent: Bool = false
    ) -> [BookmarkMerge.Action] {
        let known = BookmarkMerge.Known(base: base, change: change, isWanted: wanted, nick: "j", isRecent: recent)
        return BookmarkMerge.actions(known, now: now)
    }

    @Test("a room that is new in the list is entered, if the list says so")
    func new() {
        #expect(BookmarkMerge.actions(nil, now: joined) == [.join(nick: "j")])
        #expect(BookmarkMerge.actions(nil, now: left) == [])
        #expect(actions(before: nil, now: joined, wanted: false) == [.join(nick: "j")])
    }

    @Test("what another device changes is followed: autojoin, and a room that has gone")
    func followed() {
        #expect(actions(before: joined, now: left, wanted: true) == [.leave])
        #expect(actions(before: left, now: joined, wanted: false) == [.join(nick: "j")])
        #expect(actions(before: joined, now: nil, wanted: true) == [.leave])
        #expect(actions(before: joined, now: joined, wanted: true) == [])
        #expect(actions(before: left, now: nil, wanted: false) == [])
    }

    @Test("an own change wins, until the list shows it")
    func ownChange() {
        #expect(actions(before: joined, now: joined, wanted: false, .set) == [.write])
        #expect(actions(before: joined, now: left, wanted: false, .set) == [.settled])
        #expect(actions(before: joined, now: nil, wanted: true, .set) == [.write])
        #expect(actions(before: nil, now: nil, wanted: true, .set) == [.write])
        #expect(actions(before: joined, now: joined, wanted: true, .removal) == [.remove])
        #expect(actions(before: joined, now: nil, wanted: true, .removal) == [.settled])
        let renamed = Entry(autojoin: true, nick: "other")
        #expect(actions(before: renamed, now: renamed, wanted: true, .set) == [.write])
    }

    @Test("a list that another device has written over a room of the last minute is written again; nobody leaves")
    func overwritten() {
        #expect(actions(before: joined, now: nil, wanted: true, recent: true) == [.write])
        #expect(actions(before: joined, now: left, wanted: true, recent: true) == [.write])
        #expect(actions(before: joined, now: left, wanted: true) == [.leave])
    }

    @Test("what was refused or left here and never was in the list stays here")
    func local() {
        #expect(actions(before: nil, now: nil, wanted: true) == [])
        #expect(actions(before: left, now: left, wanted: true) == [])
    }

    @Test("no loop: whatever one device writes, another device with the same list does nothing more")
    func noLoop() {
        for base in [joined, left, nil] {
            for now in [joined, left, nil] {
                for wanted in [true, false] {
                    // After the actions the wish is what the list says, or the list is written to be what is wanted.
                    let first = actions(before: base, now: now, wanted: wanted)
                    guard !first.contains(.write) else { continue }
                    let after = first.contains(.leave) ? false : first.isEmpty ? wanted : true
                    #expect(actions(before: now, now: now, wanted: after) == [], "\(String(describing: base)) \(first)")
                }
            }
        }
    }
}
