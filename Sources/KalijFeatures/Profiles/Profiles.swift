import KalijAddress
import KalijSteps
import KalijXML

/// The profiles of a step. Pictures are never fetched here: only when the user asks (``FetchProfile``).
struct Profiles {
    let step: Step
    private var rows: ProfileRows { ProfileRows(database: step.database, account: step.account.id) }
    private var files: PictureFiles { PictureFiles(of: step.account.id, in: step.database) }

    /// What is known of `jid`.
    func profile(of jid: JID) throws -> Profile { try rows.load(jid) ?? Profile(jid) }

    // MARK: What others say

    /// The node of `jid` has this nickname, or none.
    func named(_ jid: JID, _ nick: String?) throws { try change(jid) { $0.nick = nick } }

    /// A message or a request of `jid` has a nickname.
    func hinted(_ jid: JID, _ nick: String) throws { try change(jid) { $0.hint = nick } }

    /// The node of `jid` offers a picture, or none.
    func pictured(_ jid: JID, _ hash: String?) throws {
        try change(jid) { ($0.avatar, $0.isByNode) = (hash, hash != nil) }
    }

    /// The presence of `jid` tells of a picture in the vCard, or of none (XEP-0153). A picture in a node is newer: servers copy from
    /// the node to the vCard (XEP-0398 section 5.1).
    func shows(_ jid: JID, _ hash: String?) throws {
        try change(jid) { if !$0.isByNode { $0.avatar = hash } }
    }

    /// The vCard of `jid` is known.
    func read(_ card: [UInt8]?, of jid: JID) throws { try change(jid) { $0.card = card } }

    /// The picture that `jid` shows has come.
    /// - Throws: `IntentFailure` if the disk does not take the picture.
    func fetched(_ picture: Avatar, of jid: JID, isByNode: Bool) throws {
        try change(jid) { ($0.avatar, $0.isByNode) = (picture.hash, isByNode) }
        guard files.path(of: picture.hash) == nil else { return }
        try files.store(picture)
        // A file whose step was undone has no row.
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
