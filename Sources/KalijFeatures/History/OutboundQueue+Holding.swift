import KalijSteps
import KalijStore

extension OutboundQueue {
    /// Holds all messages back if some of them have left before, and if there is, or may be, an archive that can tell
    /// whether they arrived.
    ///
    /// Called at the beginning of a connection: no entry in the queue is in the server's count then.
    package func hold(_ hold: HoldReason) throws {
        // Messages shown by the archive before the connection ended have arrived, whatever the server's count says.
        try removeSettled()
        // Without a round the server has not said yet whether it keeps an archive.
        let mayTell =
            try SessionRow.load(account, from: database).archive
            || ArchiveSyncState.load(.own, of: account, from: database) == nil
        guard mayTell, try firstSent() != nil else { return _ = try set(.none) }
        if try holding().rawValue < hold.rawValue { try set(hold) }
    }
}
