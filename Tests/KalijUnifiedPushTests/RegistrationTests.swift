import Foundation
import Glibc
import KalijText
import KalijWebPush
import TestSupport
import Testing

@testable import KalijUnifiedPush

/// A device that messages arrive at.
private final class Device {
    private(set) var registration: UnifiedPushRegistration

    init(_ registration: UnifiedPushRegistration) { self.registration = registration }

    func looks(_ body: [UInt8], at now: Int64) -> Bool { registration.isReason(body, at: now) }
}

@Suite("Registrations at a distributor")
struct RegistrationTests {
    private func registration(_ name: String = "lab") throws -> UnifiedPushRegistration {
        try UnifiedPushRegistration(
            account: "alice@example.org", distributor: Distributor(name), service: "push.example.org")
    }

    private func body(_ registration: UnifiedPushRegistration, _ text: String = "look") throws -> [UInt8] {
        let subscription = try PushSubscription(registration.node(for: "https://push.example.org/1"))
        return try PushMessage.encrypt(Array(text.utf8), for: subscription, size: 128)
    }

    @Test("an endpoint becomes a node with the registration's key, and only that registration recognizes the node")
    func node() throws {
        let (own, other) = (try registration(), try registration())
        let node = try own.node(for: "https://push.example.org/p/1")
        #expect(node.hasPrefix("https://push.example.org/p/1#p256dh="))
        #expect(own.isOwn(node: node) && !other.isOwn(node: node))
        #expect(!own.isOwn(node: "8f2c66d0"))
        #expect(own.token != other.token && own.token.utf8.count <= 100)
        let long = try UnifiedPushRegistration(
            account: String(repeating: "ä", count: 100) + "@example.org", distributor: Distributor("lab"),
            service: "push.example.org")
        #expect(long.summary.utf8.count <= 100 && long.summary.hasPrefix("XMPP, ää"))
    }

    @Test(
        "an endpoint that no push server uses is refused",
        arguments: [
            "http://push.example.org/1", "https://127.0.0.1/1", "not_an_url", "", "https://localhost/1",
            "https://push.example.org/" + String(repeating: "a", count: 10_000), "https://a@push.example.org/",
            "https://push.example.org/1#p256dh=AA", "file:///etc/passwd",
        ])
    func forbidden(_ endpoint: String) throws {
        let registration = try registration()
        #expect(throws: PushSubscription.Fault.self) { try registration.node(for: endpoint) }
    }

    @Test("each message for the device is a reason to look; a repeated one is not")
    func messages() throws {
        let device = Device(try registration())
        let bodies = try (0..<UnifiedPushRegistration.memory).map { _ in try body(device.registration) }
        for body in bodies { #expect(device.looks(body, at: 1_000)) }
        // The first repetition is what a stranger may have.
        #expect(device.looks(bodies[0], at: 2_000))
        for body in bodies { #expect(!device.looks(body, at: 3_000)) }
        #expect(device.looks(try body(device.registration, "another text"), at: 4_000))
    }

    @Test(
        "10,000 messages for another key in an hour are at most seven looks, and messages for the device are looks meanwhile"
    )
    func strangers() throws {
        let device = Device(try registration())
        let foreign = try body(try registration())
        let large = [UInt8](repeating: 7, count: 10_000_000)
        var looks = 0
        for number in 0..<10_000 {
            let stray = [foreign, [], Array(foreign.dropLast()), number % 1_000 == 0 ? large : [1]][number % 4]
            if device.looks(stray, at: Int64(number) * 360) { looks += 1 }
            if number % 1_000 == 0 { #expect(device.looks(try body(device.registration), at: Int64(number) * 360)) }
        }
        #expect(looks >= 6 && looks <= 7)
    }

    @Test("a clock that is set back does not end looks for strangers")
    func clock() throws {
        let device = Device(try registration())
        #expect(device.looks([1], at: 1_000_000_000))
        #expect(device.looks([1], at: 1_000))
        #expect(!device.looks([1], at: 2_000))
    }

    @Test("the file keeps registrations with their keys, readable by the user alone")
    func file() throws {
        let scratch = try ScratchDirectory()
        let file = RegistrationFile(directory: scratch.path)
        #expect(try file.load().isEmpty)
        let first = try registration()
        try file.change { $0.append(first) }
        #expect(try file.load() == [first])
        let message = try body(first)
        #expect(try file.change { $0[0].isReason(message, at: 1) })
        let stored = try #require(try file.load().first)
        #expect(stored != first, "the message was not noted")
        #expect(Device(stored).looks(message, at: 1), "a repetition is a stranger's first message")
        var status = stat()
        #expect(stat(scratch.file("unifiedpush.json"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        struct Undone: Error {}
        #expect(throws: Undone.self) {
            try file.change {
                $0 = []
                throw Undone()
            }
        }
        #expect(try file.load().count == 1)
    }

    @Test("a damaged file is an error, and nothing replaces the file")
    func damage() throws {
        let scratch = try ScratchDirectory()
        try "[{]".write(toFile: scratch.file("unifiedpush.json"), atomically: true, encoding: .utf8)
        let file = RegistrationFile(directory: scratch.path)
        #expect(throws: RegistrationFile.Problem.self) { try file.change { $0 = [] } }
        #expect(throws: RegistrationFile.Problem.self) { try file.load() }
    }

    @Test("the responses of both versions")
    func responses() {
        #expect(RegistrationResponse(result: "REGISTRATION_SUCCEEDED", reason: nil) == .accepted)
        #expect(RegistrationResponse(result: "NEW_ENDPOINT", reason: "") == .accepted)
        #expect(RegistrationResponse(result: "REGISTRATION_FAILED", reason: "NETWORK") == .refused("NETWORK"))
        #expect(RegistrationResponse(result: "REGISTRATION_REFUSED", reason: "") == .refused("REGISTRATION_REFUSED"))
        #expect(RegistrationResponse(result: nil, reason: nil) == .refused("a response of another form"))
    }

    @Test("the service file quotes its words, and refuses those that D-Bus and desktops read differently")
    func service() throws {
        let scratch = try ScratchDirectory()
        func service(_ word: String) -> ConnectorService {
            ConnectorService(
                name: "org.kalij.Push", command: ["/usr/bin/kalij", word], services: scratch.file("a/services"),
                logins: scratch.file("b"))
        }
        try service("/home/a b").install()
        let text = try String(contentsOfFile: scratch.file("a/services/org.kalij.Push.service"), encoding: .utf8)
        #expect(text == "[D-BUS Service]\nName=org.kalij.Push\nExec=\"/usr/bin/kalij\" \"/home/a b\"\n")
        #expect(access(scratch.file("b/org.kalij.Push.desktop"), F_OK) == 0)
        service("").remove()
        #expect(access(scratch.file("a/services/org.kalij.Push.service"), F_OK) != 0)
        for word in ["a\"b", "a\\b", "$HOME", "50%", "a\nb", "`id`"] {
            #expect(throws: ConnectorService.Problem.self) { try service(word).install() }
        }
    }
}
