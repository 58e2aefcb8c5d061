import KalijAddress
import KalijCore
import KalijStore

/// The stored profiles of an account. Can be read outside of a step.
package struct ProfileRows {
    package let database: Database
    package let account: Int64
    private var files: PictureFiles { PictureFiles(of: account, in: database) }

    package init(database: Database, account: Int64) { (self.database, self.account) = (database, account) }

    /// The profile of `jid`; nil if none is stored.
    package func load(_ jid: JID) throws -> Profile? {
        try database.statement("SELECT nick, hint, avatar, by_node, vcard FROM profile WHERE account = ? AND jid = ?")
            .first([.integer(account), .text(jid.description)]) { row in
                var profile = Profile(jid)
                (profile.nick, profile.hint) = (row.optionalText("nick"), row.optionalText("hint"))
                (profile.avatar, profile.isByNode) = (row.optionalText("avatar"), row.bool("by_node"))
                profile.avatarFile = profile.avatar.flatMap { files.path(of: $0) }
                profile.card = row.optionalBlob("vcard")
                return profile
            }
    }

    /// The pictures of all stored profiles, by their addresses: the path, nil if the picture was not fetched yet.
    package func pictures() throws -> [String: String?] {
        let known = try database.statement("SELECT jid, avatar FROM profile WHERE account = ? AND avatar IS NOT NULL")
            .all([.integer(account)]) { ($0.text("jid"), files.path(of: $0.text("avatar"))) }
        return Dictionary(known) { first, _ in first }
    }

    /// The names of all stored profiles, by their addresses.
    package func names() throws -> [(jid: String, name: String?)] {
        // A vCard is read only if there is no published nickname, which has precedence.
        try database.statement(
            "SELECT jid, nick, hint, CASE WHEN nick IS NULL THEN vcard END AS vcard FROM profile WHERE account = ?"
        ).all([.integer(account)]) { row in
            var profile = Profile(.received(row.text("jid")))
            (profile.nick, profile.hint) = (row.optionalText("nick"), row.optionalText("hint"))
            profile.card = row.optionalBlob("vcard")
            return (row.text("jid"), profile.name)
        }
    }

    /// - Parameter isKnown: whether it is the profile of the account, or of a contact.
    func store(_ profile: Profile, isKnown: Bool) throws {
        try database.run(
            """
            INSERT INTO profile(account, jid, known, nick, hint, avatar, by_node, vcard) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (account, jid) DO UPDATE SET known = excluded.known, nick = excluded.nick, hint = excluded.hint,
                avatar = excluded.avatar, by_node = excluded.by_node, vcard = excluded.vcard
            """,
            [
                .integer(account), .text(profile.jid.description), .integer(isKnown ? 1 : 0), .optional(profile.nick),
                .optional(profile.hint), .optional(profile.avatar), .integer(profile.isByNode ? 1 : 0),
                .optional(profile.card),
            ])
    }

    /// Deletes the oldest profiles of strangers.
    /// - Returns: whether a profile with a picture was deleted.
    func forgetStrangers(but most: Int64) throws -> Bool {
        try database.statement(
            """
            DELETE FROM profile WHERE id IN (SELECT id FROM profile INDEXED BY profile_stranger
                WHERE account = ? AND known = 0 ORDER BY id DESC LIMIT -1 OFFSET ?) RETURNING avatar
            """
        ).all([.integer(account), .integer(most)]) { $0.optionalText() }.contains { $0 != nil }
    }

    /// The hashes of all pictures.
    func hashes() throws -> Set<String> {
        Set(
            try database.statement("SELECT avatar FROM profile WHERE account = ? AND avatar IS NOT NULL")
                .all([.integer(account)]) { $0.text() })
    }
}
