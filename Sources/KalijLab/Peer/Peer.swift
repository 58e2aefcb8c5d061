import Synchronization

import FoundationEssentials

/// The independent client, `peer.py` on Debian's slixmpp: its reports do not depend on Kalij's code.
public struct Peer: Sendable {
    let laboratory: Laboratory
    let server: any XMPPServer
    let user: String
    let password: String

    /// A client for an account of a server.
    public init(_ user: String, password: String, server: any XMPPServer, laboratory: Laboratory) {
        self.laboratory = laboratory
        self.server = server
        self.user = user
        self.password = password
    }

    /// The account's bare address.
    public var address: String { "\(user)@\(server.domain)" }

    /// Reads the account's whole archive in the server's order.
    /// - Parameter room: a room whose archive is read instead.
    /// - Throws: ``LaboratoryError`` if the client fails or does not reach the archive's end.
    public func archive(of room: String? = nil) async throws -> [ArchiveEntry] {
        let launch = try command("archive", room.map { ["--room", $0] } ?? [])
        let output = try await laboratory.run(
            launch.executable, launch.arguments, environment: launch.environment, seconds: 3600)
        let lines = output.split(separator: "\n")
        let decoder = JSONDecoder()
        let entries = try lines.dropLast().map { try decoder.decode(ArchiveEntry.self, from: Data($0.utf8)) }
        guard let last = lines.last, last.contains("\"event\": \"complete\""), last.contains(" \(entries.count)}")
        else {
            let end = lines.last ?? "nothing"
            throw LaboratoryError("the archive of \(room ?? address) was not read to its end: \(end)")
        }
        return entries
    }

    /// Has the server push to a device from now on (XEP-0357), and logs out.
    /// - Parameters:
    ///   - service: the push service's address.
    ///   - node: the device's token.
    ///   - module: the push module's name; nil to name none.
    /// - Throws: ``LaboratoryError`` if the server refuses.
    public func enablePush(service: String, node: String, module: String?) async throws {
        let arguments = ["--service", service, "--node", node] + (module.map { ["--module", $0] } ?? [])
        let launch = try command("push", arguments)
        let output = try await laboratory.run(launch.executable, launch.arguments, environment: launch.environment)
        guard output.contains("\"enabled\"") else {
            throw LaboratoryError("push was not enabled: \(output.suffix(300))")
        }
    }

    /// Sends a stanza unchanged, however strange.
    /// - Throws: ``LaboratoryError`` if the server ends the connection because of the stanza.
    public func send(raw stanza: String) async throws {
        var launch = try command("raw", [])
        let name = laboratory.path("raw-\(UInt64.random(in: 0...UInt64.max))")
        try writeText(stanza, to: name)
        launch.input = .file(name)
        launch.errors = .file(name + ".err")
        let process = try Subprocess(launch)
        let ending = await process.wait(seconds: hungAfter)
        guard ending == .exited(0) else {
            await process.stop(seconds: 1)
            throw LaboratoryError("raw stanza not sent: \(readText(of: name + ".err").suffix(500))")
        }
    }

    /// Starts sending numbered messages and recording the replies.
    /// - Parameters:
    ///   - recipient: a bare address.
    ///   - label: the word before the number in each body.
    ///   - rate: messages a second; 0 for as fast as the server answers, with at most ten in transit.
    ///   - count: how many, nil for no end.
    ///   - first: the first number.
    ///   - resource: the resource of the client's full address; nil for the server's choice.
    ///   - reconnects: whether the client reconnects after an end of the server, instead of giving up.
    ///   - originIDs: whether the messages have an origin-id (XEP-0359).
    ///   - receipts: whether the client requests delivery receipts, and gives them (XEP-0184).
    ///   - operations: whether the client also corrects, retracts, reacts, and with `markers` gives markers, at random.
    ///   - markers: whether the messages request displayed markers, and markers are reported (XEP-0333).
    ///   - seed: of the random choices; nil for any.
    ///   - nick: the recipient is a room that the client enters under this nickname, and makes if there is none; nil
    ///     for a person.
    ///   - fields: the configuration of a new room.
    /// - Throws: ``LaboratoryError`` if the client cannot log in, or hangs.
    public func chat(
        with recipient: String, label: String, rate: Double, count: Int? = nil, first: Int = 1,
        resource: String? = nil, reconnects: Bool = false, originIDs: Bool = false, receipts: Bool = false,
        operations: Bool = false, markers: Bool = false, seed: Int? = nil, nick: String? = nil,
        fields: [String: String] = [:]
    ) async throws -> Chat {
        var arguments = ["--to", recipient, "--label", label, "--rate", "\(rate)", "--first", "\(first)"]
        if reconnects { arguments.append("--reconnect") }
        if originIDs { arguments.append("--origin-ids") }
        if receipts { arguments.append("--receipts") }
        if operations { arguments.append("--operations") }
        if markers { arguments.append("--markers") }
        if let count { arguments += ["--count", "\(count)"] }
        if let seed { arguments += ["--seed", "\(seed)"] }
        if let nick { arguments += ["--nick", nick] }
        for (name, value) in fields { arguments += ["--field", "\(name)=\(value)"] }
        var launch = try command("chat", arguments, resource: resource)
        let files = laboratory.path("chat-\(user)-\(UInt32.random(in: 0...UInt32.max))")
        launch.output = .file(files + ".out")
        launch.errors = .file(files + ".err")
        let chat = Chat(process: try Subprocess(launch, writable: true), files: files)
        try await chat.wait(for: "ready")
        return chat
    }

    /// Starts answering requests, elements `question` in `urn:example:question` with a number.
    /// - Parameters:
    ///   - resource: of the client's full address.
    ///   - delay: each answer takes a random time of so many seconds.
    ///   - isHeld: whether answers wait for ``Chat/answer()``.
    ///   - capabilities: whether the client announces its capabilities (XEP-0115), and answers queries for them.
    /// - Throws: ``LaboratoryError`` if the client cannot log in, or hangs.
    public func answering(
        resource: String, delay: ClosedRange<Double> = 0...0, isHeld: Bool = false, capabilities: Bool = false
    ) async throws -> Chat {
        let times = ["--delay", "\(delay.lowerBound)", "\(delay.upperBound)"]
        let arguments = times + (capabilities ? ["--caps"] : []) + (isHeld ? ["--held"] : [])
        var launch = try command("answer", arguments, resource: resource)
        let files = laboratory.path("answer-\(user)-\(UInt32.random(in: 0...UInt32.max))")
        launch.output = .file(files + ".out")
        launch.errors = .file(files + ".err")
        let chat = Chat(process: try Subprocess(launch, writable: true), files: files)
        try await chat.wait(for: "ready")
        return chat
    }

    func command(_ name: String, _ arguments: [String], resource: String? = nil) throws -> Launch {
        let script = laboratory.path("peer.py")
        if readBytes(of: script).isEmpty { try writeText(resourceText(PackageResources.peer_py), to: script) }
        var launch = laboratory.launch(
            try Tool.python.path(),
            [
                script, name, "--jid", address + (resource.map { "/" + $0 } ?? ""), "--port", "\(server.port)", "--ca",
                server.certificateAuthority,
            ]
                + arguments)
        launch.environment["PEER_PASSWORD"] = password
        return launch
    }
}

/// A running client that sends numbered messages.
public final class Chat: Sendable {
    private struct State {
        var tail: LogTail
        var seen: [PeerEvent] = []
        var wasStopped = false
    }

    private let process: Subprocess
    private let files: String
    private let state: Mutex<State>

    init(process: Subprocess, files: String) {
        self.process = process
        self.files = files
        state = Mutex(State(tail: LogTail(path: files + ".out")))
    }

    /// The client's reports so far.
    /// - Throws: ``LaboratoryError`` if the client has ended by itself.
    public func events() throws -> [PeerEvent] {
        let seen = state.withLock { state in
            let decoder = JSONDecoder()
            for line in state.tail.newLines() {
                if let event = try? decoder.decode(PeerEvent.self, from: Data(line.utf8)) { state.seen.append(event) }
            }
            return state.seen
        }
        if let failure = seen.first(where: { $0.event == "failed" }) {
            throw LaboratoryError("the peer gave up: \(failure.reason ?? "no reason given")")
        }
        if let ending = process.ending(), ending != .exited(0), !state.withLock({ $0.wasStopped }) {
            throw LaboratoryError("the peer ended with \(ending): \(readText(of: files + ".err").suffix(500))")
        }
        return seen
    }

    /// The number of messages sent by the client.
    public func sent() throws -> Int {
        try events().count { $0.event == "sent" }
    }

    /// Sends so many of the next messages as fast as the server takes messages.
    func burst(_ count: Int) throws {
        try process.write(line: "burst \(count)")
    }

    /// Sends a stanza unchanged; without line breaks.
    public func send(raw stanza: String) throws { try process.write(line: "raw \(stanza)") }

    /// Answers the requests that were held, and all later ones.
    public func answer() throws { try process.write(line: "answer") }

    /// Stops sending; the client continues to receive.
    /// - Returns: how many messages were sent, all taken by the server.
    public func stopSending() async throws -> Int {
        try process.write(line: "stop")
        return try await wait(for: "stopped").sent ?? 0
    }

    /// Waits until the client has sent all requested messages.
    /// - Returns: the number of these messages.
    @discardableResult
    public func finished() async throws -> Int {
        try await wait(for: "stopped").sent ?? 0
    }

    /// Logs out. A client that takes long is stopped: its reports so far are all that there is, and what a test needs of them it has waited for.
    public func quit() async {
        try? process.write(line: "quit")
        guard await process.wait(seconds: 10) == nil else { return }
        state.withLock { $0.wasStopped = true }
        await process.stop(seconds: 1)
    }

    /// Waits for a report. A client that reports nothing for long hangs.
    @discardableResult
    func wait(for name: String) async throws -> PeerEvent {
        var (count, deadline) = (-1, ContinuousClock.now)
        while true {
            let events = try events()
            if let event = events.first(where: { $0.event == name }) { return event }
            if events.count != count { (count, deadline) = (events.count, ContinuousClock.now + .seconds(hungAfter)) }
            guard ContinuousClock.now < deadline else { break }
            try await sleep(for: .milliseconds(10))
        }
        throw LaboratoryError(
            "the peer is not \(name), and hangs: \(readText(of: files + ".err").suffix(500))")
    }
}
