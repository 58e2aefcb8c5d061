import KalijCore
import KalijStore

extension OutboundQueue {
    /// Holds all messages back if some of them have been sent before, and if there is, or may be, an archive that can determine
    /// whether they arrived.
    ///
    /// Called at the beginning of a connection: the server's count then includes no entry of the queue.
    package func hold(_ hold: HoldReason) throws {
        // Messages that the archive returned before the connection ended have arrived, whatever the server's count.
        try removeSettled()
        // Without a round, whether the server has an archive was not discovered yet.
        let mayTell =
            try SessionRow.load(account, from: database).archive
            || ArchiveSyncState.load(.own, of: account, from: database) == nil
        guard mayTell, try firstSent() != nil else { return _ = try set(.none) }
        if try holding().rawValue < hold.rawValue { try set(hold) }
    }
}
