import Foundation
import KalijAddress
import KalijLab
import KalijStore
import TestSupport
import Testing

@testable import KalijEngine
@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// What a driver reports to a process that looks once.
@Suite(.serialized) struct DriverReportTests {
    @Test("a report has the connection's state and the bytes of transfers in progress, of this account, until they end")
    func report() async throws {
        let server = try ScriptedServer("idle")
        let drive = try EngineFixture(server)
        let account = try JID("juliet@localhost")
        #expect(DriverReport(of: drive.directory) == nil)
        let engine = try await Engine.start(
            role: .main, in: drive.directory, options: Engine.Options(timing: EngineFixture.timing))
        let isOnline = try await until { DriverReport(of: drive.directory)?.state(of: account)?.stage == .online }
        #expect(isOnline)

        // Nobody subscribes to changes: the driver remembers them nevertheless.
        func emit(bytes: Int64?) async throws {
            try await engine.perform { step in
                let rows = UploadRows(database: step.database, account: step.account.id)
                let file = SendFile(
                    to: try JID("romeo@localhost"), file: "a",
                    FileDescription(
                        name: "a.jpg", type: "image/jpeg", size: 1000, sha256: [1], width: nil, height: nil),
                    text: nil, textID: nil, privacy: .plain)
                if try rows.row(for: "up") == nil { try rows.insert(file, id: "up", acceptedAt: 1) }
                step.emit(UploadChanged(try #require(try rows.row(for: "up")), bytes: bytes))
            }
        }
        func bytes() throws -> Int64? {
            let report = try #require(DriverReport(of: drive.directory))
            #expect(report.bytes(of: "up", of: try JID("other@localhost")) == nil)
            let upload = try Attachments(drive.directory).uploads(report: report).first
            #expect(upload?.bytes == report.bytes(of: "up", of: account).map { min($0, 1000) })
            return report.bytes(of: "up", of: account)
        }
        #expect(try bytes() == nil)
        try await emit(bytes: 400)
        #expect(try bytes() == 400)
        // The tag of an encrypted file is more than its size.
        try await emit(bytes: 1016)
        #expect(try bytes() == 1016)
        try await emit(bytes: nil)
        #expect(try bytes() == nil)
        // A report that follows the changes is the same.
        try await emit(bytes: 500)
        let changes = try #require(DirectoryChanges(drive.directory))
        var (followed, told) = (DriverReport(), changes.makeAsyncIterator())
        while followed.state(of: account) == nil || followed.bytes(of: "up", of: account) == nil {
            if case .changed(let change)? = await told.next() { followed.apply(change) }
        }
        #expect(followed.bytes(of: "up", of: account) == 500)
        try await engine.stop()
        #expect(DriverReport(of: drive.directory) == nil)
    }

    private func until(_ isTrue: () -> Bool) async throws -> Bool {
        for _ in 0..<Int(hangLimit * 20) {
            if isTrue() { return true }
            try await sleep(for: .milliseconds(50))
        }
        return false
    }
}
