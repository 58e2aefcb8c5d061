import TestSupport
import Testing

@testable import KalijTransfer

@Suite("Downloads")
struct DownloadTests {
    private let server: FileServer
    private let trial: Trial

    init() throws {
        server = try FileServer()
        trial = try Trial()
    }

    private func request(
        _ path: String, _ method: TransferRequest.Method = .get, limits: TransferLimits = TransferLimits()
    ) -> TransferRequest {
        TransferRequest(
            method, url: server.url(path), caFile: server.authority, ownHosts: ["localhost"], ownAddress: "127.0.0.1",
            limits: limits)
    }

    @Test("A file arrives whole", arguments: [0, 1, 65536, 3_000_001])
    func whole(_ size: Int) throws {
        #expect(trial.run(request("/file/\(size)")) == .finished(status: 200, sent: 0, received: Int64(size)))
        #expect(trial.isPattern(size))
        let head = try #require(trial.heads.first)
        #expect(head.contentLength == Int64(size))
        #expect(head.etag == "\"one\"")
        #expect(head.lastModified == "Tue, 24 Nov 2026 08:00:00 GMT")
        let fields = try #require(server.request()?.fields)
        #expect(fields["accept-encoding"] == "identity")
        for name in ["user-agent", "cookie", "authorization", "range", "referer"] { #expect(fields[name] == nil) }
    }

    @Test("The rest of a file, with the validator of the first part")
    func rest() throws {
        var request = request("/file/100000")
        request.offset = 40_000
        request.validator = "\"one\""
        #expect(trial.run(request) == .finished(status: 206, sent: 0, received: 60_000))
        #expect(trial.isPattern(60_000, from: 40_000))
        #expect(trial.heads.first?.contentRange == ContentRange("bytes 40000-99999/100000"))
        // A changed file comes whole.
        let second = try Trial()
        request.validator = "\"two\""
        #expect(second.run(request)?.status == 200)
        #expect(second.bytes.count == 100_000)
    }

    @Test("A wrong range is told as the server says; a part that nobody asked for is an error")
    func wrongRange() throws {
        var request = request("/wrong-range")
        #expect(trial.run(request)?.failure?.code == .protocolError)
        request.offset = 50
        let second = try Trial()
        #expect(second.run(request)?.status == 206)
        #expect(second.heads.first?.contentRange?.first == 0)
    }

    @Test("HEAD has the length, and no body")
    func headAlone() {
        #expect(trial.run(request("/file/123456", .head)) == .finished(status: 200, sent: 0, received: 0))
        #expect(trial.heads.first?.contentLength == 123_456)
        #expect(trial.bytes.isEmpty)
    }

    @Test("Without a length, and in chunks")
    func noLength() throws {
        #expect(trial.run(request("/no-length"))?.status == 200)
        #expect(trial.isPattern(5000))
        #expect(trial.heads.first?.contentLength == nil)
        let second = try Trial()
        #expect(second.run(request("/chunked"))?.status == 200)
        #expect(second.bytes == Array("abcde".utf8))
        #expect(second.heads.count == 1 && second.heads.first?.contentLength == nil)
    }

    @Test("A body shorter than announced is a cut; of a longer one, the announced bytes come")
    func wrongLengths() throws {
        let failure = try #require(trial.run(request("/short"))?.failure)
        #expect(failure.code == .cut)
        #expect(failure.status == 200 && failure.received == 500)
        let second = try Trial()
        #expect(second.run(request("/long")) == .finished(status: 200, sent: 0, received: 500))
        #expect(second.bytes == pattern(500))
    }

    @Test(
        "Responses that break the rules are errors",
        arguments: [
            ("/huge-head", TransferFailure.Code.protocolError), ("/endless-hints", .protocolError),
            ("/gzip", .protocolError), ("/coded", .protocolError), ("/two-lengths", .protocolError),
            ("/garbage", .protocolError), ("/cut-head", .cut),
        ])
    func broken(_ path: String, _ code: TransferFailure.Code) throws {
        let failure = try #require(trial.run(request(path))?.failure)
        #expect(failure.code == code, "\(failure)")
        #expect(trial.bytes.isEmpty && trial.heads.isEmpty)
    }

    @Test("Bodies of refusals are not read, however long", arguments: ["/missing", "/endless-error"])
    func refusals(_ path: String) {
        #expect(trial.run(request(path)) == .finished(status: 404, sent: 0, received: 0))
    }

    @Test("A trickle is given up, and silence", arguments: ["/trickle", "/silent"])
    func slow(_ path: String) throws {
        let limits = TransferLimits(lowSpeed: 100, lowSpeedSeconds: 1)
        let begin = trial.loop.now
        #expect(trial.run(request(path, limits: limits))?.failure?.code == .tooSlow)
        #expect(trial.loop.now - begin >= 1)
        #expect(server.request()?.end != "answered")
    }

    @Test("A download that is paused at any moment goes on, and is whole")
    func pausingAtAnyMoment() throws {
        let begin = trial.loop.now
        #expect(trial.run(request("/file/100"))?.status == 200)
        let duration = trial.loop.now - begin
        for step in 0...40 {
            let trial = try Trial()
            trial.start(request("/file/100"))
            trial.loop.schedule(after: duration * Double(step) / 40) { trial.transfer?.pause() }
            trial.turn(for: duration + 0.02)
            trial.transfer?.resume()
            trial.wait { !trial.ends.isEmpty }
            #expect(trial.ends == [.finished(status: 200, sent: 0, received: 100)], "step \(step)")
            #expect(trial.heads.map(\.contentLength) == [100] && trial.bytes == pattern(100), "step \(step)")
        }
    }

    /// Under load the server may send nothing for the time of the limit, before the pause or after it: then another trial is made.
    @Test("A paused download stands still and loses nothing")
    func pausing() throws {
        let size = 8_000_000
        var ends: [TransferEnd] = []
        for _ in 0..<5 where ends != [.finished(status: 200, sent: 0, received: Int64(size))] {
            let trial = try Trial()
            trial.onEvent = { trial, event in
                if case .bytes = event, trial.bytes.count < 1_000_000 { trial.transfer?.pause() }
            }
            trial.start(request("/file/\(size)", limits: TransferLimits(lowSpeed: 1000, lowSpeedSeconds: 1)))
            trial.wait { !trial.bytes.isEmpty || !trial.ends.isEmpty }
            guard trial.ends.isEmpty else { continue }
            let stand = trial.bytes.count
            trial.turn(for: 2)
            #expect(trial.bytes.count == stand && trial.ends.isEmpty)
            trial.onEvent = { _, _ in }
            trial.transfer?.resume()
            trial.wait { !trial.ends.isEmpty }
            ends = trial.ends
            if case .finished? = ends.first { #expect(trial.isPattern(size)) }
        }
        #expect(ends == [.finished(status: 200, sent: 0, received: Int64(size))])
    }

    // MARK: Redirects

    private func follow(_ path: String) throws -> (redirects: Redirects, end: TransferEnd?, trial: Trial) {
        var redirects = Redirects()
        var request = request(path)
        while true {
            let trial = try Trial()
            let end = trial.run(request)
            guard let head = trial.heads.first, let next = try redirects.next(after: request, head) else {
                return (redirects, end, trial)
            }
            request = next
        }
    }

    @Test("Three redirects lead to the file; four, a loop, http and nowhere do not")
    func redirects() throws {
        let (redirects, end, last) = try follow("/redirect/3")
        #expect(redirects.count == 3)
        #expect(end?.status == 200 && last.bytes == pattern(10))
        for path in ["/redirect/4", "/loop", "/to-http", "/to-nowhere"] {
            #expect(throws: TransferFailure(.redirect, ""), "\(path)") { try follow(path) }
        }
    }

    @Test("The address behind a redirect is judged like the first")
    func redirectInside() throws {
        let end = try follow("/to-address").end
        #expect(end?.failure?.code == .refusedAddress)
        #expect(end?.failure?.description == "the address 127.0.0.1 is not public")
        #expect(server.accepted == 1)
    }
}
