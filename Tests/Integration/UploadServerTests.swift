import Foundation
import KalijLab
import TestSupport
import Testing

/// The upload services of the laboratory, asked with programs that are not Kalij's: slixmpp for slots, curl for files. Facts
/// of these services are those of the design of files ("What servers do").
@Suite(.serialized) struct UploadServerTests {
    /// A server with bob, and the answers of curl.
    private struct Stage {
        let laboratory: Laboratory
        let server: any XMPPServer
        let bob: Peer
        let store: UploadStore

        init(_ kind: ServerKind, _ uploads: UploadLimits = UploadLimits()) async throws {
            laboratory = try Laboratory()
            var options = ServerOptions()
            options.uploads = uploads
            server = try await startedServer(kind, in: laboratory, options: options, users: ["bob"])
            bob = Peer("bob", password: "secret", server: server, laboratory: laboratory)
            store = try #require(server.uploads)
        }

        /// The status of the answer.
        func curl(_ arguments: [String]) async throws -> Int {
            let output = try await laboratory.run(
                "/usr/bin/curl",
                [
                    "--silent", "--cacert", server.certificateAuthority, "--write-out", "\n%{http_code}",
                ]
                    + arguments, seconds: hangLimit)
            return try #require(output.split(separator: "\n").last.flatMap { Int($0) }, "\(output)")
        }

        func put(_ bytes: Data, to slot: PeerUploadSlot) async throws -> Int {
            let path = laboratory.path("upload")
            try bytes.write(to: URL(fileURLWithPath: path))
            let headers = slot.headers.flatMap { ["--header", $0.joined(separator: ": ")] }
            return try await curl(headers + ["--output", "/dev/null", "--upload-file", path, slot.put])
        }

        func get(_ url: String) async throws -> (status: Int, bytes: Data) {
            let path = laboratory.path("download")
            let status = try await curl(["--output", path, url])
            return (status, FileManager.default.contents(atPath: path) ?? Data())
        }

        /// The status and `Content-Length`.
        func head(_ url: String) async throws -> (status: Int, length: Int?) {
            let path = laboratory.path("head")
            let status = try await curl(["--head", "--output", path, url])
            let lines = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
            let header = lines.split(whereSeparator: \.isNewline).first {
                $0.lowercased().hasPrefix("content-length:")
            }
            return (status, header.flatMap { Int($0.split(separator: " ").last ?? "") })
        }
    }

    private static func sample(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 &+ $0 >> 8) })
    }

    @Test(
        "a file is uploaded once, comes back as it was, and is on the server's disk", arguments: ServerKind.allCases)
    func upload(kind: ServerKind) async throws {
        let stage = try await Stage(kind)
        defer { stage.laboratory.close() }
        #expect(stage.store.files().isEmpty)
        let content = Self.sample(300_000)
        let slot = try await stage.bob.slot(for: "photo.jpg", size: content.count)
        #expect(slot.put.hasPrefix("https://localhost:\(stage.store.port)/") && Set(slot.announced) == ["10485760"])
        #expect(try await stage.head(slot.get).status != 200, "nothing is there before the upload")

        #expect(try await stage.put(content, to: slot) == 201)
        let (status, bytes) = try await stage.get(slot.get)
        #expect(status == 200 && bytes == content)
        let head = try await stage.head(slot.get)
        #expect(head.status == 200 && head.length == content.count)
        let path = try #require(stage.store.path(of: slot.get))
        #expect(stage.store.files() == [path])
        #expect(FileManager.default.contents(atPath: path) == content)
        // "same slot when complete: 409; 403"
        #expect(try await stage.put(content, to: slot) == (kind == .prosody ? 409 : 403))
        await stage.server.stop()
    }

    @Test("a file that is over a small limit gets no slot", arguments: ServerKind.allCases)
    func tooLarge(kind: ServerKind) async throws {
        let stage = try await Stage(kind, UploadLimits(size: 5000))
        defer { stage.laboratory.close() }
        let error = await #expect(throws: UploadRefusal.self) {
            try await stage.bob.slot(for: "x.bin", size: 5001)
        }
        #expect(
            error?.condition == "not-acceptable" && error?.limit == "5000" && Set(error?.announced ?? []) == ["5000"])
        let slot = try await stage.bob.slot(for: "x.bin", size: 5000)
        #expect(try await stage.put(Self.sample(5000), to: slot) == 201)
        #expect(stage.store.files().count == 1)
        await stage.server.stop()
    }

    @Test(
        "with large limits, files over 10 MiB pass, more than Prosody's hundred a day", arguments: ServerKind.allCases)
    func large(kind: ServerKind) async throws {
        let stage = try await Stage(kind, .large)
        defer { stage.laboratory.close() }
        let content = Self.sample(12 << 20)
        let slot = try await stage.bob.slot(for: "film.mp4", size: content.count)
        #expect(Set(slot.announced) == ["\(2 << 30)"])
        #expect(try await stage.put(content, to: slot) == 201)
        #expect(try await stage.get(slot.get).bytes == content)
        for _ in 0..<3 { _ = try await stage.bob.slot(for: "large", size: 2 << 30) }
        await stage.server.stop()
    }
}
