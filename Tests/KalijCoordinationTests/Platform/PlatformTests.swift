import Foundation
import KalijCoordination
import TestSupport
import Testing

@Suite struct PlatformTests {
    @Test("A directory is for its owner alone; an existing directory stays unchanged; a failure names the directory")
    func protection() throws {
        let scratch = try ScratchDirectory()
        let path = scratch.file("private")
        try OwnerOnly().makeDirectory(path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        try OwnerOnly().makeDirectory(path)
        let failure = #expect(throws: SystemFailure.self) { try OwnerOnly().makeDirectory(path + "/a/b") }
        #expect(failure?.path == path + "/a/b" && failure?.reason.isEmpty == false)
    }

    @Test("A mailbox rings by the given signals")
    func signals() throws {
        let scratch = try ScratchDirectory()
        let signals = CountingSignals()
        let mailbox = try Mailbox(directory: scratch.path, signals: signals)
        try mailbox.announce(.driver, number: 1)
        let sent = try #require(try mailbox.send(.outboxChanged, to: .driver, from: .share, now: 1))
        #expect(try mailbox.reply(to: sent, within: 1) == nil)
        #expect(signals.bell.rings == 1)
    }

    // Used by one thread.
    private final class CountingSignals: Signals, @unchecked Sendable {
        final class CountingBell: DoorbellConnection {
            var rings = 0
            func ring() { rings += 1 }
            func awaitHangUp(within seconds: Double) -> Bool { true }
        }

        let bell = CountingBell()
        func listener(directory: String, at address: Address) throws -> any SignalListener {
            try SocketSignals().listener(directory: directory, at: address)
        }
        func bell(directory: String, at address: Address) -> (any DoorbellConnection)? { bell }
    }
}
