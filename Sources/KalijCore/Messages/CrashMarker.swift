import KalijStore

import Glibc
import KalijText

/// Records what is being called, a handler or the processing of an archive's result, outside of the step's transaction.
///
/// A handler that ends its process also ends the step. Then nothing in the database names the handler, and the next process would
/// call the handler again, forever. So before each call, the row's name is written to a file. The cost is a write to memory that
/// survives the process. The mark need not survive the machine: no handler stops the machine. The next driver counts a crash for
/// the row, if the row still exists, and the third crash makes the handler a dead letter. A result has no row before its crash:
/// see ``FailedResults``.
///
/// The mark lasts no longer than the step. Errors of the step (a full disk among them) occur after the call, and are no crash.
package final class CrashMarker {
    /// A handler's row, or a result.
    package struct Row: Equatable {
        package let account: Int64
        package let origin: Origin
        package let id: String

        package init(account: Int64, origin: Origin, id: String) {
            (self.account, self.origin, self.id) = (account, origin, id)
        }
    }

    package enum Origin: String {
        case request, timer, promise
        /// A result of an archive; its id is the result's name.
        case result

        /// Nil for what is no handler.
        package init?(_ origin: DeadLetter.Origin) { self.init(rawValue: origin.rawValue) }
    }

    private let path: String
    /// The number of the driver that writes the marks. Marks of other drivers do not describe the last driver's end.
    private let fence: Int64
    private var descriptor: Int32 = -1
    private var isSet = false
    /// The line of the last mark of a result, which the next one changes, the archive and the account, and the length of their part.
    private var last: (line: [UInt8], archive: Archive?, account: Int64, beginning: Int) = ([], nil, 0, 0)
    /// The last byte of a line of the file.
    private static let end = UInt8(ascii: "\n")
    /// More bytes than a mark of a result may have in plain.
    private static let maxPlain = 2048
    /// In a line, instead of ``Origin/result`` and a result's name: what the name is made of.
    private static let plain = "plain"

    package init(path: String, fence: Int64) { (self.path, self.fence) = (path, fence) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Marks a handler's row before the call, or an archive's result before features process it. After a failed write a crash is
    /// not counted.
    package func set(_ row: Row) {
        write("\(fence) \(row.account) \(row.origin.rawValue) \(row.id)\n")
        isSet = true
    }

    /// Marks a result of an archive before features process it. Its name, a hash, would take longer than the mark: the line has what the
    /// name is made of, unless that could be more than a line.
    package func set(resultCalled id: String, of archive: Archive, account: Int64) {
        if last.account != account || last.archive != archive {
            let beginning = Array("\(fence) \(account) \(Self.plain) \(archive.key) ".utf8)
            last = (beginning, archive, account, beginning.count)
        }
        last.line.removeLast(last.line.count - last.beginning)
        last.line.append(contentsOf: id.utf8)
        guard last.line.count <= Self.maxPlain, !last.line.contains(Self.end) else {
            guard let name = archive.name(of: id) else { return }
            return set(Row(account: account, origin: .result, id: name))
        }
        last.line.append(Self.end)
        last.line.withUnsafeBytes(write)
        isSet = true
    }

    /// The step has ended, with a commit or an error.
    package func clear() {
        guard isSet else { return }
        isSet = false
        write("\n")
    }

    private func write(_ text: String) {
        var text = text
        text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    private func write(_ line: UnsafeRawBufferPointer) {
        if descriptor < 0 { descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { return }
        // In one piece: a process that ends meanwhile leaves the old line or the new one.
        _ = pwrite(descriptor, line.baseAddress, line.count, 0)
    }

    /// The handler that the last driver was calling at its end; nil if there was none, or if the mark is another
    /// driver's.
    package func left() -> Row? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
        guard count > 0, let end = bytes[..<count].firstIndex(of: 0x0A) else { return nil }
        let words = String(decoding: bytes[..<end], as: UTF8.self)
            .parts(at: " ", most: 4)
        guard words.count == 4, Int64(words[0]) == fence - 1, let account = Int64(words[1]) else { return nil }
        if words[2] == Self.plain {
            return Archive.name(ofPlain: words[3]).map { Row(account: account, origin: .result, id: $0) }
        }
        guard let origin = Origin(rawValue: words[2]) else { return nil }
        return Row(account: account, origin: origin, id: words[3])
    }

    /// Counts a crash for what the last driver was calling at its end.
    /// - Throws: `StoreError`
    package func countCrash(in database: Database) throws {
        guard let row = left() else { return }
        let count: StaticString
        switch row.origin {
        case .request: count = "UPDATE request SET crashes = crashes + 1 WHERE account = ? AND id = ?"
        case .timer: count = "UPDATE timer SET crashes = crashes + 1 WHERE account = ? AND id = ?"
        case .promise: count = "UPDATE waiter SET crashes = crashes + 1 WHERE account = ? AND id = ?"
        case .result:
            return try database.transaction {
                _ = try FailedResults(database: database, account: row.account).failed(row.id)
            }
        }
        try database.transaction {
            try database.run(count, [.integer(row.account), .text(row.id)])
            guard database.changes > 0 else { return }
            // The stanza of the call, if any, is not to blame.
            try database.run(
                "UPDATE attempt SET attempts = max(0, attempts - 1) WHERE account = ?", [.integer(row.account)])
        }
    }
}
