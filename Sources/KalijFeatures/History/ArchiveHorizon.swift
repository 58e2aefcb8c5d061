import KalijSteps
import KalijStore

/// Up to which stamp of an archive a reading that begins now shows everything: nothing more will be archived there.
///
/// Archives write late, some messages after later ones (measured: ejabberd 23.01, up to 1.1 s). What was archived long before a
/// reading began is complete in the reading, so no later reading begins before it.
enum ArchiveHorizon {
    /// At the beginning of a round that extends `range`. A room's server has a clock of its own.
    static func until(_ archive: Archive, _ range: ArchiveRange?, in step: Step) throws -> Int64? {
        if archive.isOwn { return until(serverTime: try ServerTime(step: step).known) }
        let readAt = try step.database.statement("SELECT read_at FROM catchup WHERE account = ? AND archive = ?")
            .first([.integer(step.account.id), .text(archive.key)]) { $0.optionalInteger() }
        return until(last: (readAt ?? nil, range?.lastAt), now: step.steady.now)
    }

    /// In milliseconds: nothing is archived later than this after its stamp. It is also the time after which ejabberd gives up a
    /// question to its database.
    static let lateness: Int64 = 60_000

    /// For the archive of the account's own server.
    /// - Parameter serverTime: the server's time or somewhat earlier, nil if it is not known: then nothing is sure.
    static func until(serverTime: Int64?) -> Int64? { serverTime.map { $0 - lateness } }

    /// For an archive whose clock nobody has asked, such as a room's: what the last reading has shown, if that is long ago.
    /// - Parameters:
    ///   - last: the end of the last reading in the steady time, and the stamp of the newest message then.
    ///   - now: the steady time.
    static func until(last: (readAt: Int64?, newest: Int64?), now: Int64) -> Int64? {
        guard let readAt = last.readAt, now.subtractingReportingOverflow(readAt).partialValue >= lateness else {
            return nil
        }
        return last.newest
    }
}
