import Foundation
import Glibc
import TestSupport
import Testing

@testable import KalijFiles

/// "Files without row or lock are swept" (media, sending 1)
struct SweepTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func sweep(known: Set<String> = []) throws -> Int {
        try OrphanSweep.sweep(scratch.file("out")) { known.contains($0) }
    }

    @Test("a file goes when there is neither a lock nor a row")
    func files() throws {
        let path = try scratch.write(sample(10), to: "x")
        let held = try accept(path, in: scratch, id: "held")
        for id in ["known", "stray"] { try accept(path, in: scratch, id: id).release() }
        _ = try scratch.write([1], to: "out/killed.part")
        #expect(try sweep(known: ["known"]) == 2)
        #expect(scratch.names(in: "out") == ["held", "known"])
        held.release()
        #expect(try sweep(known: ["known"]) == 1)
        #expect(scratch.names(in: "out") == ["known"])
    }

    @Test("the lock ends with the object; a discarded file is gone at once")
    func ends() throws {
        let path = try scratch.write(sample(10), to: "x")
        do {
            let file = try accept(path, in: scratch)
            #expect(try sweep() == 0)
            #expect(file.id == "a")
        }
        #expect(try sweep() == 1)
        let file = try accept(path, in: scratch, id: "b")
        file.discard()
        #expect(scratch.names(in: "out").isEmpty)
    }

    @Test("a file in the middle of its copy stays")
    func duringCopy() throws {
        let path = try scratch.write(sample(200_000), to: "x")
        var swept = 0
        let file = try accept(path, in: scratch) { _ in swept += (try? sweep()) ?? 1 }
        #expect(swept == 0)
        #expect(try bytes(of: file.path) == sample(200_000))
    }

    @Test("folders, links and pipes stay; a missing folder is empty; an error of the question is passed on")
    func others() throws {
        #expect(try sweep() == 0)
        mkdir(scratch.file("out"), 0o700)
        mkdir(scratch.file("out/folder"), 0o700)
        mkfifo(scratch.file("out/fifo"), 0o600)
        let target = try scratch.write([1], to: "target")
        symlink(target, scratch.file("out/link"))
        #expect(try sweep() == 0)
        #expect(scratch.names(in: "out") == ["fifo", "folder", "link"])
        _ = try scratch.write([1], to: "out/stray")
        struct Failure: Error {}
        #expect(throws: Failure.self) { try OrphanSweep.sweep(scratch.file("out")) { _ in throw Failure() } }
        #expect(scratch.names(in: "out").contains("stray"))
    }

    /// "sweep() between O_CREAT and the lock": both work at the same time.
    @Test("sweeping all the time never takes an accepted file away")
    func race() throws {
        let path = try scratch.write(sample(10), to: "x")
        let out = scratch.file("out")
        let isOver = Flag()
        let sweeper = Thread {
            while !isOver.isSet { _ = try? OrphanSweep.sweep(out) { _ in false } }
            isOver.acknowledge()
        }
        sweeper.start()
        defer { isOver.set() }
        for number in 0..<100 {
            let file = try accept(path, in: scratch, id: "f\(number)")
            if access(file.path, F_OK) != 0 { Issue.record("\(number) is gone") }
            // The folder stays small, so that the sweeps are many.
            file.discard()
        }
    }
}

/// Set by one thread, seen by another.
private final class Flag: Sendable {
    private let event = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    var isSet: Bool {
        guard event.wait(timeout: .now()) == .success else { return false }
        return true
    }

    func acknowledge() { ended.signal() }

    func set() {
        event.signal()
        _ = ended.wait(timeout: .now() + hangLimit)
    }
}
