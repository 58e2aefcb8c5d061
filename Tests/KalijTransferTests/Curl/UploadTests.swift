import Testing

@testable import KalijTransfer

@Suite("Uploads")
struct UploadTests {
    private let server: FileServer
    private let trial: Trial

    init() throws {
        server = try FileServer()
        trial = try Trial()
    }

    private func request(_ path: String, limits: TransferLimits = TransferLimits()) -> TransferRequest {
        TransferRequest(
            .put, url: server.url(path), caFile: server.authority, ownHosts: ["localhost"], ownAddress: "127.0.0.1",
            limits: limits)
    }

    @Test("A file arrives whole, in portions or not", arguments: [1, 16384, 16385, 65536, 1_000_003])
    func whole(_ size: Int) throws {
        let fields = [
            HeaderField("Content-Type", "image/jpeg"), HeaderField("Authorization", "Bearer x"),
            HeaderField("Expires", ""),
        ]
        var request = request("/put?x")
        request.fields = fields
        let end = trial.run(request, body: Bytes(pattern(size), portion: 10_000))
        #expect(end == .finished(status: 201, sent: Int64(size), received: 0))
        #expect(trial.seals == 1)
        #expect(trial.heads.map(\.status) == [201])
        #expect(trial.progress.last == Int64(size))
        let seen = try #require(server.request())
        #expect(seen.got == size && seen.end == "complete")
        #expect(seen.sha256 == sum(pattern(size)))
        #expect(seen.fields?["content-length"] == "\(size)")
        #expect(seen.fields?["content-type"] == "image/jpeg")
        #expect(seen.fields?["authorization"] == "Bearer x")
        #expect(seen.fields?["expires"] == "")
        for name in ["expect", "user-agent", "transfer-encoding", "cookie", "range"] {
            #expect(seen.fields?[name] == nil, "\(name)")
        }
    }

    @Test("Informational responses are passed over")
    func informed() {
        #expect(trial.run(request("/put-informed"), body: Bytes(pattern(100_000)))?.status == 201)
        #expect(trial.heads.count == 1)
    }

    // MARK: The seal

    @Test("Nothing of the last block leaves before the release", arguments: [10, 16384, 16400, 500_000])
    func seal(_ size: Int) throws {
        trial.onEvent = { _, _ in }
        let body = Bytes(pattern(size))
        trial.start(request("/put"), body: body)
        #expect(trial.wait { trial.seals == 1 })
        trial.turn(for: 0.3) { !trial.ends.isEmpty }
        #expect(trial.ends.isEmpty)
        #expect(trial.seals == 1)
        #expect(body.position == max(0, size - 16384))
        trial.transfer?.cancel()
        trial.turn(for: 0.2)
        #expect(trial.ends.isEmpty)
        let seen = try #require(server.request())
        // What was in the buffers when the connection was reset may be lost, too.
        #expect(seen.got ?? size <= max(0, size - 16384))
        #expect(seen.end == "reset")
    }

    @Test("A held block leaves when released later, whatever pauses come between")
    func lateRelease() throws {
        trial.onEvent = { _, _ in }
        trial.start(request("/put"), body: Bytes(pattern(100_000)))
        #expect(trial.wait { trial.seals == 1 })
        trial.transfer?.pause()
        trial.turn(for: 0.1)
        trial.transfer?.resume()
        trial.turn(for: 0.1)
        #expect(trial.seals == 1 && trial.ends.isEmpty)
        trial.transfer?.pause()
        trial.transfer?.releaseLastBlock()
        trial.turn(for: 0.2) { !trial.ends.isEmpty }
        #expect(trial.ends.isEmpty)
        trial.transfer?.resume()
        trial.wait { !trial.ends.isEmpty }
        #expect(trial.ends == [.finished(status: 201, sent: 100_000, received: 0)])
        #expect(server.request()?.sha256 == sum(pattern(100_000)))
    }

    @Test("A release before the seal counts for nothing")
    func earlyRelease() {
        trial.onEvent = { _, _ in }
        trial.start(request("/put"), body: Bytes(pattern(100_000)))
        trial.transfer?.releaseLastBlock()
        #expect(trial.wait { trial.seals == 1 })
        trial.turn(for: 0.3) { !trial.ends.isEmpty }
        #expect(trial.ends.isEmpty)
    }

    // MARK: Pausing

    @Test("A paused upload stands still, longer than the limit of speed allows, and goes on")
    func pausing() throws {
        let size = 10_000_000
        trial.onEvent = { trial, event in
            if case .progress(let count) = event, count < 1_000_000 { trial.transfer?.pause() }
            if case .seal = event { trial.transfer?.releaseLastBlock() }
        }
        let body = Bytes(pattern(size))
        trial.start(request("/put", limits: TransferLimits(lowSpeed: 1000, lowSpeedSeconds: 0.5)), body: body)
        #expect(trial.wait { !trial.progress.isEmpty })
        trial.turn(for: 0.2)
        let stand = body.position
        trial.turn(for: 1)
        #expect(body.position == stand && stand < size)
        #expect(trial.ends.isEmpty)
        trial.onEvent = { trial, event in
            if case .seal = event { trial.transfer?.releaseLastBlock() }
        }
        trial.transfer?.resume()
        trial.wait { !trial.ends.isEmpty }
        #expect(trial.ends.first?.status == 201)
        #expect(server.request()?.got == size)
    }

    // MARK: Servers that refuse

    @Test(
        "A refusal in mid-upload is reported with its status",
        arguments: [("/put-refused", 403), ("/put-too-large", 413)])
    func refusal(_ path: String, _ status: Int) throws {
        let size = 8_000_000
        let end = trial.run(request(path), body: Bytes(pattern(size)))
        guard case .finished(let seen, let sent, _) = end else {
            Issue.record("\(String(describing: end))")
            return
        }
        #expect(seen == status)
        #expect(sent < size)
        #expect(trial.heads.map(\.status) == [status])
    }

    @Test("A server that says done too early is not believed")
    func early() throws {
        let end = trial.run(request("/put-early"), body: Bytes(pattern(8_000_000)))
        let failure = try #require(end?.failure)
        #expect(failure.code == .protocolError)
        #expect(failure.status == 201)
        #expect(failure.sent < 8_000_000)
        #expect(trial.heads.isEmpty)
        #expect(server.request()?.end == "reset")
    }

    @Test("The server's end in mid-upload is a cut")
    func half() throws {
        // Half of this is more than the buffers of two sockets take.
        let failure = try #require(trial.run(request("/put-half"), body: Bytes(pattern(32_000_000)))?.failure)
        #expect(failure.code == .cut)
        #expect(failure.status == nil)
        #expect(failure.sent < 32_000_000)
    }

    @Test("A server that does not read is given up")
    func unread() throws {
        let limits = TransferLimits(lowSpeed: 1000, lowSpeedSeconds: 1, sendBuffer: 64 * 1024)
        let end = trial.run(request("/put-unread", limits: limits), body: Bytes(pattern(8_000_000)))
        #expect(end?.failure?.code == .tooSlow)
    }

    @Test("A server that takes all and does not answer is given up")
    func unanswered() throws {
        let limits = TransferLimits(lowSpeed: 1000, lowSpeedSeconds: 0.5)
        let failure = try #require(
            trial.run(request("/put-unanswered", limits: limits), body: Bytes(pattern(50_000)))?.failure)
        #expect(failure.code == .tooSlow)
        #expect(failure.sent == 50_000)
        #expect(server.request()?.end == "reset")
    }

    @Test("Retry-After arrives in seconds")
    func busy() {
        #expect(trial.run(request("/put-busy"), body: Bytes(pattern(10)))?.status == 503)
        #expect(trial.heads.first?.retryAfter == 7)
    }

    // MARK: Bodies

    @Test("A body that cannot be read, or ends too early, ends the transfer with a reset")
    func source() throws {
        let bodies = [
            Bytes(pattern(500_000), failsAt: 100_000, portion: 50_000), Bytes(pattern(100_000), length: 500_000),
        ]
        for body in bodies {
            let trial = try Trial()
            let failure = try #require(trial.run(request("/put"), body: body)?.failure)
            #expect(failure.code == .source)
            #expect(failure.sent == 100_000)
        }
        #expect(server.request()?.end == "reset")
    }

    @Test("Bodies that do not fit their request are refused")
    func misfits() throws {
        for (request, body) in [
            (request("/put"), nil), (request("/put"), Bytes([])),
            (TransferRequest(.get, url: server.url("/file/1"), caFile: server.authority), Bytes([1])),
        ] {
            #expect(try Trial().run(request, body: body)?.failure?.code == .invalidRequest)
        }
        #expect(server.accepted == 0)
    }
}
