import Foundation
import KalijCoordination
import TestSupport
import Testing

@Suite struct DoorbellTests {
    let directory = try? ScratchDirectory()

    private func path() throws -> String { try #require(directory).path }

    private func isReadable(_ descriptor: Int32, within milliseconds: Int32 = Int32(hangLimit * 1000)) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, milliseconds) == 1
    }

    @Test("The driver is told when a bell is let go, not before")
    func rings() throws {
        let listener = try Doorbell.Listener(directory: path())
        var bell = Doorbell.bell(directory: try path())
        #expect(bell != nil)
        #expect(isReadable(listener.descriptor))
        let caller = try #require(listener.accept())
        #expect(!isReadable(caller, within: 50))
        bell = nil
        #expect(isReadable(caller))
        close(caller)
        #expect(bell == nil)
    }

    @Test("sockets are created with mode 0600 whatever the umask: nobody else can ring or listen")
    func mode() throws {
        let old = umask(0)
        defer { umask(old) }
        let listener = try Doorbell.Listener(directory: path())
        defer { withExtendedLifetime(listener) {} }
        var status = stat()
        #expect(stat(try path() + "/driver.sock", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("A subscription is told when something happens, and hears the end of the driver")
    func subscription() throws {
        #expect(Doorbell.subscription(directory: try path()) == nil)
        let listener = try Doorbell.Listener(directory: path())
        let subscription = try #require(Doorbell.subscription(directory: path()))
        #expect(subscription.wait(seconds: 0.05) == .nothing)
        let caller = try #require(listener.accept())
        var byte: UInt8 = 0
        #expect(read(caller, &byte, 1) == 1 && byte == Doorbell.tell)
        for _ in 0..<1_000_000 / 8 { Doorbell.tell(caller) }  // more than fits: nobody waits for a slow reader
        #expect(subscription.wait(seconds: hangLimit) == .something)
        close(caller)
        while subscription.wait(seconds: hangLimit) == .something {}
        #expect(subscription.wait(seconds: hangLimit) == .end)
    }

    @Test("There is no bell where nobody listens, also where somebody listened once")
    func nobody() throws {
        #expect(Doorbell.bell(directory: try path()) == nil)
        do { _ = try Doorbell.Listener(directory: path()) }
        #expect(Doorbell.bell(directory: try path()) == nil)
    }

    @Test("A new driver listens in place of a dead driver whose socket is left")
    func replaces() throws {
        let dead = try Doorbell.Listener(directory: path())
        let living = try Doorbell.Listener(directory: path())
        let bell = Doorbell.bell(directory: try path())
        #expect(bell != nil)
        #expect(isReadable(living.descriptor))
        #expect(!isReadable(dead.descriptor, within: 50))
    }

    @Test("A path longer than the 107 bytes of a socket's address works")
    func longPath() throws {
        let long = try path() + "/" + String(repeating: "d", count: 200)
        try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: true)
        let listener = try Doorbell.Listener(directory: long)
        let bell = Doorbell.bell(directory: long)
        #expect(bell != nil)
        #expect(isReadable(listener.descriptor))
    }
}
