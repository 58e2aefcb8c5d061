import Foundation
import KalijAddress
import KalijLab
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What programs that show a directory are told by its driver.
@Suite(.serialized) struct DirectoryChangesTests {
    private let drive: EngineFixture
    private let server: ScriptedServer

    init() throws {
        server = try ScriptedServer("idle")
        drive = try EngineFixture(server)
    }

    private func start() async throws -> RunningEngine {
        try await Engine.start(role: .main, in: drive.directory, options: Engine.Options(timing: EngineFixture.timing))
    }

    /// Waits until `isIt` is told.
    private func told(_ changes: inout DirectoryChanges.Iterator, _ isIt: (DirectoryChange) -> Bool) async throws {
        while let news = await changes.next() { if case .changed(let change) = news, isIt(change) { return } }
        Issue.record("the changes end before")
    }

    private func state(_ change: DirectoryChange) -> AccountState? {
        guard change.kind == .state, let value = change.value else { return nil }
        return try? JSONDecoder().decode(AccountState.self, from: Data(value.utf8))
    }

    @Test("a viewer is told of the state, of messages and drafts of whatever process, and hears the driver's end")
    func told() async throws {
        #expect(DirectoryChanges(drive.directory) == nil)
        let engine = try await start()
        let changes = try #require(DirectoryChanges(drive.directory))
        var told = changes.makeAsyncIterator()
        #expect(await told.next() == .everything)
        try await self.told(&told) { state($0)?.stage == .online }
        // A later viewer gets the state with its first lines.
        var later = try #require(DirectoryChanges(drive.directory)).makeAsyncIterator()
        #expect(await later.next() == .everything)
        try await self.told(&later) { state($0).map { $0.stage == .online && $0.since > 0 } ?? false }
        let romeo = try JID("romeo@localhost")
        let isRomeo = { (change: DirectoryChange) in change.kind == .conversation && change.key == romeo.description }
        try await engine.accept("hello", to: romeo)
        try await self.told(&told, isRomeo)
        try await self.told(&later, isRomeo)
        // Changes of the message's state may be reported in between.
        try drive.directory.share(SetDraft("What light", for: romeo))
        while try Conversations(drive.directory).all().first?.draft == nil { try await self.told(&told, isRomeo) }
        try drive.directory.share(ChangeSettings(for: JID("tybalt@localhost")))
        try await self.told(&told) { $0.kind == .conversation && $0.key == "tybalt@localhost" }
        try await engine.stop()
        while await told.next() != nil {}
        while await later.next() != nil {}
        #expect(DirectoryChanges(drive.directory) == nil)
    }

    @Test("a viewer that does not read holds nobody up, and learns that everything may be different")
    func slow() async throws {
        let engine = try await start()
        let changes = try #require(DirectoryChanges(drive.directory))
        for round in 0..<4 {
            try await engine.perform { step in
                for number in 0..<4000 {
                    let name = "\(round)-\(number)@\(String(repeating: "x", count: 200))"
                    step.emit(DraftChanged(conversation: name))
                }
            }
            try await sleep(for: .milliseconds(60))
        }
        var told = changes.makeAsyncIterator()
        #expect(await told.next() == .everything)
        var count = 0
        reading: while let news = await told.next() {
            switch news {
            case .everything: break reading
            case .changed(let change) where change.kind == .conversation: count += 1
            case .changed: continue
            }
        }
        #expect(count > 0 && count < 16_000)
        try await engine.perform { $0.emit(DraftChanged(conversation: "last")) }
        try await self.told(&told) { $0.key == "last" }
        try await engine.stop()
    }

    @Test("a cancelled loop ends, and the driver goes on")
    func cancelled() async throws {
        let engine = try await start()
        let changes = try #require(DirectoryChanges(drive.directory))
        let loop = Task { for await _ in changes {} }
        loop.cancel()
        await loop.value
        var told = try #require(DirectoryChanges(drive.directory)).makeAsyncIterator()
        #expect(await told.next() == .everything)
        try await engine.stop()
    }

    @Test("an account that waits for its next attempt connects now if a viewer's user wants so")
    func connectNow() async throws {
        server.stop()
        var timing = EngineFixture.timing
        timing.longestRetry = 300
        let engine = try await Engine.start(role: .main, in: drive.directory, options: Engine.Options(timing: timing))
        let changes = try #require(DirectoryChanges(drive.directory))
        var told = changes.makeAsyncIterator()
        // The pauses grow: on a busy machine one of the first may end by itself.
        var isEarly = false
        while !isEarly {
            var next: Int64?
            try await self.told(&told) {
                guard let state = state($0), state.stage == .offline, state.reason != nil else { return false }
                next = state.nextAttempt
                return true
            }
            changes.connectNow()
            try await self.told(&told) { state($0)?.stage == .connecting }
            isEarly = try Clock.system.now() < #require(next)
        }
        try await engine.stop()
    }
}
