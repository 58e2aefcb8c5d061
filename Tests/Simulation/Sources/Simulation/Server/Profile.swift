/// How one of the real servers behaves, where they differ (measured).
public struct Profile: Sendable {
    public let name: String
    /// What a `<resume/>` gets after the server was restarted.
    let remembersCountAfterRestart: Bool
    /// A `<resume/>` with a count below one that was acknowledged before.
    let staleCount: StaleCount
    /// What the connection gets whose session another one has resumed or whose resource was bound anew.
    let tellsConflict: Bool
    /// How many unacknowledged stanzas a session may have before resuming it closes the connection; nil for any number.
    let queueLimit: Int?
    /// Whether connections that ask for a session soon after one another each get it as it was for the first.
    var hasSeveralHeirs: Bool
    /// Messages in a thousand that the archive shows a little later than others behind them.
    var archivedLate: Int
    /// Messages in a thousand that are delivered after another whose place in the archive is behind theirs.
    var deliveredLate: Int
    /// Messages in a thousand that get the id in the archive of the one before, if that is somebody else's.
    var twins: Int
    /// Whether what a resource had not acknowledged, or what came while none was there, is delivered once more when one
    /// comes: the archive has it all the same.
    let deliversOffline: Bool
    /// Seconds that a session outlives its connection.
    let sessionTimeout: Int
    /// Whether the first question for a page after a start is answered with an internal error.
    var archiveStartsSlowly = false
    /// Whether the account's messages are archived.
    var hasArchive = true
    /// Which messages the archive keeps.
    var policy = Policy.always
    /// Whether the server tells which (XEP-0441).
    var hasPreferences = true

    /// Prosody's `default_archive_policy`, ejabberd's `default` of mod_mam.
    public enum Policy: String, Sendable {
        case always
        /// What is exchanged with contacts.
        case roster
        case never
    }

    /// Whether it says what time it is (XEP-0202).
    var tellsTime = true

    enum StaleCount { case close, resume, fail }

    public static let prosody12 = Profile(
        name: "Prosody 0.12", remembersCountAfterRestart: true, staleCount: .close, tellsConflict: false,
        queueLimit: 25, hasSeveralHeirs: false, archivedLate: 0, deliveredLate: 0, twins: 0, deliversOffline: true,
        sessionTimeout: 600)
    public static let ejabberd23 = Profile(
        name: "ejabberd 23.01", remembersCountAfterRestart: false, staleCount: .resume, tellsConflict: true,
        queueLimit: nil, hasSeveralHeirs: true, archivedLate: 30, deliveredLate: 20, twins: 20,
        deliversOffline: true, sessionTimeout: 300, archiveStartsSlowly: true)
    public static let prosody13 = Profile(
        name: "Prosody 13.0", remembersCountAfterRestart: true, staleCount: .fail, tellsConflict: false,
        queueLimit: nil, hasSeveralHeirs: false, archivedLate: 0, deliveredLate: 0, twins: 0, deliversOffline: true,
        sessionTimeout: 600)
    public static let ejabberd24 = Profile(
        name: "ejabberd 24.12", remembersCountAfterRestart: false, staleCount: .resume, tellsConflict: true,
        queueLimit: nil, hasSeveralHeirs: false, archivedLate: 10, deliveredLate: 10, twins: 10,
        deliversOffline: true, sessionTimeout: 300)

    /// The same server without what happens now and then only.
    var atEase: Profile {
        var profile = self
        (profile.archivedLate, profile.deliveredLate, profile.twins) = (0, 0, 0)
        (profile.hasSeveralHeirs, profile.archiveStartsSlowly) = (false, false)
        return profile
    }

    /// The same server with the archive turned off for the account.
    var withoutArchive: Profile {
        var profile = self
        (profile.hasArchive, profile.hasSeveralHeirs, profile.deliveredLate) = (false, false, 0)
        return profile
    }

    /// The same server with an archive that does not keep everything. What it does not keep nobody can ask for: so it has no
    /// several heirs, between which messages get lost.
    func archiving(_ policy: Policy, hasPreferences: Bool) -> Profile {
        var profile = self
        (profile.policy, profile.hasPreferences) = (policy, hasPreferences)
        if policy != .always { profile.hasSeveralHeirs = false }
        return profile
    }

    /// Whether the archive keeps anything.
    var keepsAny: Bool { hasArchive && policy != .never }

    /// Whether what is exchanged with the bare address `peer` is kept. The account has one contact.
    func keeps(_ peer: String) -> Bool {
        guard hasArchive else { return false }
        return switch policy {
        case .always: true
        case .roster: peer == "romeo@example.net"
        case .never: false
        }
    }

    public static let all = [prosody12, ejabberd23, prosody13, ejabberd24]
}
