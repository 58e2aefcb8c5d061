import Foundation
import KalijTransport
import TestSupport
import Testing

@testable import KalijTransfer

@Suite("Cancelled transfers")
struct CancelTests {
    private let server: FileServer
    private let trial: Trial

    init() throws {
        server = try FileServer()
        trial = try Trial()
    }

    private func request(_ method: TransferRequest.Method, _ path: String) -> TransferRequest {
        TransferRequest(
            method, url: server.url(path), caFile: server.authority, ownHosts: ["localhost"], ownAddress: "127.0.0.1")
    }

    @Test("The server sees a reset, from within each event", arguments: ["progress", "seal", "head", "bytes"])
    func within(_ kind: String) throws {
        let isPut = ["progress", "seal"].contains(kind)
        var seen = 0
        trial.onEvent = { trial, event in
            let name = "\(event)".prefix { $0 != "(" }
            guard name == kind else { return }
            seen += 1
            trial.transfer?.cancel()
        }
        if isPut {
            trial.start(request(.put, "/put"), body: Bytes(pattern(8_000_000)))
        } else {
            trial.start(request(.get, "/zeros/200000000"))
        }
        #expect(trial.wait { seen > 0 })
        trial.turn(for: 0.3)
        #expect(seen == 1 && trial.ends.isEmpty)
        let end = try #require(server.request()?.end)
        #expect(end == "reset")
    }

    @Test("Before it begins, between turns and after its end, a transfer is cancelled without a word")
    func moments() throws {
        trial.start(request(.get, "/file/10"))
        trial.transfer?.cancel()
        trial.turn(for: 0.2)
        #expect(trial.ends.isEmpty && server.accepted == 0)
        trial.start(request(.get, "/silent"))
        trial.turn(for: 0.3)
        trial.transfer?.cancel()
        trial.transfer?.cancel()
        #expect(server.request()?.end == "reset")
        #expect(trial.ends.isEmpty)
        let done = try Trial()
        #expect(done.run(request(.get, "/file/10"))?.status == 200)
        done.transfer?.cancel()
        done.transfer?.pause()
        done.transfer?.resume()
        done.transfer?.releaseLastBlock()
        done.turn(for: 0.1)
        #expect(done.ends.count == 1)
    }

    @Test("A transport that goes cancels its transfers")
    func transportGone() throws {
        var transport: CurlTransport? = CurlTransport(loop: trial.loop)
        var events = 0
        let transfer = transport?.start(request(.get, "/silent"), body: nil) { _ in events += 1 }
        trial.wait { self.server.accepted == 1 }
        trial.turn(for: 0.3)
        transport = nil
        #expect(server.request()?.end == "reset")
        trial.turn(for: 0.1)
        #expect(events == 0)
        transfer?.cancel()
    }

    @Test("Twenty transfers at once, some cancelled by the others' events")
    func many() throws {
        var transfers: [any Transfer] = []
        var ends = 0
        let transport = CurlTransport(loop: trial.loop)
        for index in 0..<20 {
            let isPut = index % 2 == 0
            let body = isPut ? Bytes(pattern(200_000)) : nil
            let request = request(isPut ? .put : .get, isPut ? "/put" : "/file/200000")
            let transfer = transport.start(request, body: body) { event in
                switch event {
                case .seal: transfers[index].releaseLastBlock()
                // A neighbour may be in any state; each third is cancelled.
                case .head, .bytes: if index % 3 == 1, index + 1 < 20 { transfers[index + 1].cancel() }
                case .ended(let end):
                    ends += 1
                    #expect(end.status == (isPut ? 201 : 200))
                case .progress: break
                }
            }
            transfers.append(transfer)
        }
        trial.wait { ends >= 14 }
        trial.turn(for: 0.2)
        // Some of the cancelled may have been faster.
        #expect((14...20).contains(ends))
    }

    @Test("Nothing stays open")
    func descriptors() throws {
        // The search finds a connection that is there.
        trial.start(request(.get, "/silent"))
        #expect(trial.wait { (try? connections()) == 1 })
        trial.transfer?.cancel()
        weak var loop: EventLoop?
        for _ in 0..<10 {
            let trial = try Trial()
            loop = trial.loop
            #expect(trial.run(request(.get, "/file/100000"))?.status == 200)
            trial.onEvent = { trial, _ in trial.transfer?.cancel() }
            trial.start(request(.put, "/put"), body: Bytes(pattern(100_000)))
            trial.turn(for: 0.1)
        }
        #expect(try connections() == 0)
        #expect(loop == nil)
    }

    /// This process's connections to the server. A count of all descriptors says nothing: other suites open theirs at the
    /// same time.
    private func connections() throws -> Int {
        let folder = "/proc/self/fd"
        let held = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + $0)
        }
        let port = ":" + String(format: "%04X", server.port)
        return try systemFile("/proc/net/tcp").split(separator: "\n").count { line in
            let words = line.split(separator: " ")
            return words.count > 9 && words[2].hasSuffix(port) && held.contains("socket:[\(words[9])]")
        }
    }
}
