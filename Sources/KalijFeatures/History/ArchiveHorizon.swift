import KalijCore
import KalijStore

/// The stamp up to which an archive is complete: a reading that begins now returns every message up to this stamp, because the archive
/// adds none there any more.
///
/// Servers archive with a delay, and some messages after later ones (measured: ejabberd 23.01, up to 1.1 s). Messages stamped long
/// before a reading began are complete in it, so no later reading begins before them.
enum ArchiveHorizon {
    /// The horizon at the beginning of a round that extends `range`; nil if it cannot be determined. A room's server has a clock of
    /// its own, so the horizon of a room is derived from its own stamps.
    static func until(_ archive: Archive, _ range: ArchiveRange?, in step: Step) throws -> Int64? {
        if archive.isOwn { return until(serverTime: try ServerTime(step: step).known) }
        let readAt = try step.database.statement("SELECT read_at FROM catchup WHERE account = ? AND archive = ?")
            .first([.integer(step.account.id), .text(archive.key)]) { $0.optionalInteger() }
        return until(last: (readAt ?? nil, range?.lastAt), now: step.steady.now)
    }

    /// The longest delay between a message's stamp and its archiving, in milliseconds. ejabberd abandons a database query after the
    /// same time.
    static let lateness: Int64 = 60_000

    /// The horizon of the account's own archive.
    /// - Parameter serverTime: the server's time or somewhat earlier; nil if it was not determined: then there is no horizon.
    static func until(serverTime: Int64?) -> Int64? { serverTime.map { $0 - lateness } }

    /// The horizon of an archive whose clock is not queried, such as a room's: the newest message of the last reading, if that reading
    /// ended long enough ago.
    /// - Parameters:
    ///   - last: the end of the last reading in the steady time, and the stamp of the newest message at that time.
    ///   - now: the steady time.
    static func until(last: (readAt: Int64?, newest: Int64?), now: Int64) -> Int64? {
        guard let readAt = last.readAt, now.subtractingReportingOverflow(readAt).partialValue >= lateness else {
            return nil
        }
        return last.newest
    }
}
