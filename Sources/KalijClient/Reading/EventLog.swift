import KalijCore
import KalijFeatures
import KalijStore

/// Reads events about messages, by their numbers; never waits for a running process.
///
/// Each event about a message has a number (``EngineEvent/number``) and a row written in the same step. A reader handles events
/// up to a number, stores that number together with the results, and resumes after the number: no event is missed and none is
/// delivered twice, whichever process dies. Numbers are increasing, with gaps.
///
/// ```swift
/// let log = try EventLog(directory)
/// for event in try log.events(after: 41) { print(event.number ?? 0, event.content) }
/// ```
///
/// Events are kept for 30 days, and the newest 10,000 however old they are.
public struct EventLog {
    private let database: Database
    private let isThere: Bool
    private var stored: StoredEvents { StoredEvents(database: database) }

    /// The maximum total size of the bodies in a page, in bytes, and the maximum number of events.
    private static let pageBytes = 1 << 20
    private static let pageLimit = 500

    /// Reads the events of `directory`.
    /// - Throws: `DirectoryError.noAccount`, `StoreError`
    public init(_ directory: AccountDirectory) throws {
        try self.init(reading: try directory.read())
    }

    /// Reads the events in `database`.
    init(reading database: Database) throws {
        self.database = database
        // An earlier version had no numbered events.
        isThere = try Schema.accounts.has("events/1", in: database)
    }

    /// The last number assigned; 0 if there is none. A reader that starts with this number receives all later events.
    public var last: Int64 {
        get throws {
            isThere ? try stored.last : 0
        }
    }

    /// A page of the events after `number` of all accounts, oldest first; empty if there are none. An event about a message's
    /// state has the state of that time; the rest of the message is current.
    /// - Parameters:
    ///   - number: the last number that the reader has processed; 0 for all stored events.
    ///   - limit: the maximum number of events; fewer are returned if the messages are large.
    /// - Throws: `EventLogError.forgotten` if events after `number` were removed; `.unknown` if no event can have had that
    ///   number; `StoreError`.
    public func events(after number: Int64, limit: Int = 500) throws -> [EngineEvent] {
        // A single read transaction, so that all rows are from one snapshot.
        try database.reading { try page(after: number, limit: limit) }
    }

    /// The same within a read transaction.
    func page(after number: Int64, limit: Int = 500) throws -> [EngineEvent] {
        let last = try last
        guard number <= last else { throw EventLogError.unknown(number, last: last) }
        guard isThere else { return [] }
        let forgotten = try stored.forgotten
        guard number >= forgotten else { throw EventLogError.forgotten(through: forgotten) }
        return try rows(after: number, limit: min(limit, Self.pageLimit))
    }

    private func rows(after number: Int64, limit: Int) throws -> [EngineEvent] {
        let addresses = try AccountTable(database).addresses()
        var (events, bytes, last): ([EngineEvent], Int, Int64) = ([], 0, number)
        while events.count < limit, bytes < Self.pageBytes, let row = try stored.next(after: last) {
            last = row.number
            guard let address = addresses[row.account],
                let message = try Message.load(row.message, from: database)?.withFile(in: database)
            else { continue }
            bytes += message.body?.utf8.count ?? 0
            events.append(
                EngineEvent(
                    account: .received(address), at: row.at, content: Self.content(row.kind, message),
                    number: row.number))
        }
        return events
    }

    /// The event stored as `kind`. An unsupported kind, of a later version or of an application, becomes `MessageStored`.
    private static func content(_ kind: String, _ message: Message) -> any MessageEvent {
        for feature in Features.own { if let event = feature.event(kind, of: message) { return event } }
        return MessageStored(message)
    }
}

/// Why a reader cannot resume.
public enum EventLogError: Error, Equatable, CustomStringConvertible, Sendable {
    /// Events up to this number were removed before the reader has received all of them. The messages are still stored.
    case forgotten(through: Int64)
    /// No event has had that number: the number is another directory's, or the database was restored to an earlier
    /// state.
    case unknown(Int64, last: Int64)

    public var description: String {
        switch self {
        case .forgotten(let number):
            "events up to \(number) are kept no longer; `kalij history` has the messages, and what came after them follows "
                + "number \(number)"
        case .unknown(let number, let last):
            "no event has had the number \(number), the last one is \(last): the number is of another directory, or the "
                + "database was put back to an earlier state"
        }
    }
}
