import KalijAddress
import KalijCore
import KalijFeatures
import KalijStore
import KalijText
import KalijXML

import FoundationEssentials

/// What is stored of an account as lines of JSON, for other programs: its contacts, rooms, blocked addresses and messages, in the forms of the
/// events of the same names. Neither the password nor keys are among them; of files there are the paths.
///
/// The first line is an `export`, the last one an `end`: a file without it is not whole. Only reads; never waits for a running process.
///
/// ```swift
/// try AccountExport(directory).save(to: "juliet.jsonl") { part in print(part) }
/// ```
public struct AccountExport: Sendable {
    /// The version of the form.
    public static let format = 1
    private let directory: AccountDirectory
    private let jid: JID?
    private let clock: Clock
    private static let pageSize = 500

    /// - Parameters:
    ///   - account: the account; nil for the only one.
    ///   - directory: the accounts' directory.
    ///   - clock: the source of time.
    public init(_ directory: AccountDirectory, of account: JID? = nil, clock: Clock = .system) {
        (self.directory, jid, self.clock) = (directory, account, clock)
    }

    /// Reads the lines in order: messages in the order in which they were stored, the ones in the mailbox last.
    /// - Parameters:
    ///   - write: called with each line, without its end.
    ///   - progress: called between pages with the part that is read, from 0 to 1. What it throws ends the export.
    /// - Returns: the number of messages.
    /// - Throws: `DirectoryError`, `StoreError`, and what `write` and `progress` throw
    @discardableResult
    public func read(
        _ write: (String) throws -> Void, progress: (Double) throws -> Void = { _ in }
    ) throws -> Int {
        let reader = try HistoryReader(directory)
        let account = try AccountTable(reader.database).account(jid, in: directory)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var count = 0
        func line(_ value: any Encodable) throws {
            try write(String(decoding: encoder.encode(value), as: UTF8.self).cleaned(for: .json))
            count += 1
        }
        try line(ExportLine("export", account, at: clock.now(), format: Self.format))
        try head(of: account, reader.database, line)
        let before = count
        try messages(of: account, reader, line, progress)
        let messages = count - before
        try line(ExportLine("end", account, at: clock.now(), lines: count + 1))
        try progress(1)
        return messages
    }

    private func head(of account: Account, _ database: Database, _ line: (any Encodable) throws -> Void) throws {
        let (name, now) = (account.jid.description, clock.now())
        let contacts = Contacts(database)
        if let profile = try contacts.profile(of: account.jid, for: account) {
            try line(EventRecord("profile", account: name, at: now, profile.fields))
        }
        for contact in try contacts.contacts(of: account) {
            try line(EventRecord(ContactChanged.name, account: name, at: now, contact.fields))
        }
        for jid in try contacts.blocked(of: account) { try line(BlockedLine(jid, of: account, at: now)) }
        for room in try Rooms(database).rooms(of: account) { try line(RoomRecord(room, of: account, at: now)) }
    }

    private func messages(
        of account: Account, _ reader: HistoryReader, _ line: (any Encodable) throws -> Void,
        _ progress: (Double) throws -> Void
    ) throws {
        let name = account.jid.description
        let newest = max(1, try MessageFeed.last(in: reader.database))
        var last: Int64 = 0
        while true {
            try progress(min(1, Double(last) / Double(newest)))
            let page = try reader.messages(after: last, of: account, limit: Self.pageSize)
            for message in page { try line(EventRecord(message, account: name, at: message.sentAt)) }
            guard let end = page.last?.id, page.count == Self.pageSize else { break }
            last = end
        }
        for message in try reader.waiting(of: account, with: nil) {
            try line(EventRecord(message, account: name, at: message.sentAt))
        }
    }
}

/// The first and the last line.
private struct ExportLine: Encodable {
    private let event: String
    private let account: String
    private let at: String
    private let format: Int?
    private let lines: Int?

    init(_ event: String, _ account: Account, at time: Int64, format: Int? = nil, lines: Int? = nil) {
        (self.event, self.account, at) = (event, account.jid.description, DateTime.stamp(time))
        (self.format, self.lines) = (format, lines)
    }
}

/// A blocked address.
private struct BlockedLine: Encodable {
    private let event = "blocked"
    private let account: String
    private let at: String
    private let address: String

    init(_ jid: JID, of account: Account, at time: Int64) {
        (self.account, at, address) = (account.jid.description, DateTime.stamp(time), jid.description)
    }
}
