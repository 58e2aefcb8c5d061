import KalijAddress
import KalijCore
import KalijXML

/// The profiles of a step. Pictures are fetched only at the user's request (``FetchProfile``).
struct Profiles {
    let step: Step
    private var rows: ProfileRows { ProfileRows(database: step.database, account: step.account.id) }
    private var files: PictureFiles { PictureFiles(of: step.account.id, in: step.database) }

    /// The stored profile of `jid`.
    func profile(of jid: JID) throws -> Profile { try rows.load(jid) ?? Profile(jid) }

    // MARK: Received profiles

    /// Stores the nickname in the node of `jid`, or none.
    func named(_ jid: JID, _ nick: String?) throws { try change(jid) { $0.nick = nick } }

    /// Stores the nickname in a message or a subscription request of `jid`.
    func hinted(_ jid: JID, _ nick: String) throws { try change(jid) { $0.hint = nick } }

    /// Stores the hash of the picture that the node of `jid` offers, or none.
    func pictured(_ jid: JID, _ hash: String?) throws {
        try change(jid) { ($0.avatar, $0.isByNode) = (hash, hash != nil) }
    }

    /// Stores the hash of the vCard's picture in a presence of `jid`, or none (XEP-0153). A picture in a node has precedence: servers
    /// copy it to the vCard (XEP-0398 section 5.1).
    func shows(_ jid: JID, _ hash: String?) throws {
        try change(jid) { if !$0.isByNode { $0.avatar = hash } }
    }

    /// Stores the vCard of `jid`.
    func read(_ card: [UInt8]?, of jid: JID) throws { try change(jid) { $0.card = card } }

    /// Stores the picture of `jid`.
    /// - Throws: `IntentFailure` if the picture cannot be written.
    func fetched(_ picture: Avatar, of jid: JID, isByNode: Bool) throws {
        try change(jid) { ($0.avatar, $0.isByNode) = (picture.hash, isByNode) }
        guard files.path(of: picture.hash) == nil else { return }
        try files.store(picture)
        // A file whose step was rolled back has no row.
        files.keep(try rows.hashes())
        step.emit(ProfileChanged(try profile(of: jid)))
    }

    private func change(_ jid: JID, _ change: (inout Profile) -> Void) throws {
        let known = try rows.load(jid)
        let old = known ?? Profile(jid)
        var new = old
        change(&new)
        guard new != old else { return }
        let isKnown = try isKnown(jid)
        try rows.store(new, isKnown: isKnown)
        var mayBeUnused = old.avatar != new.avatar && old.avatarFile != nil
        if known == nil, !isKnown, try rows.forgetStrangers(but: EngineLimits.keptRows) { mayBeUnused = true }
        if mayBeUnused { files.keep(try rows.hashes()) }
        if old.avatar != new.avatar { new.avatarFile = new.avatar.flatMap { files.path(of: $0) } }
        step.emit(ProfileChanged(new))
    }

    /// Whether it is the account, or a contact.
    private func isKnown(_ jid: JID) throws -> Bool {
        guard jid.isBare, jid != step.account.jid else { return jid.isBare }
        return try RosterRows(database: step.database, account: step.account.id).contact(jid) != nil
    }
}
