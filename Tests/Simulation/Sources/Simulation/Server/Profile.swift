import KalijXML

/// The behaviour of a real server, where the servers differ (measured).
public struct Profile: Sendable {
    public let name: String
    /// Whether `<failed/>` has a count in answer to a `<resume/>` after the server was restarted.
    let remembersCountAfterRestart: Bool
    /// The answer to a `<resume/>` with a count below an acknowledged count.
    let staleCount: StaleCount
    /// Whether a connection is told that another connection has resumed its session or bound its resource anew.
    let tellsConflict: Bool
    /// How many unacknowledged stanzas a session may have before resuming the session closes the connection; nil for any number.
    let queueLimit: Int?
    /// Whether several connections that ask for a session in quick succession each get the session in the state of the first.
    var hasSeveralHeirs: Bool
    /// Messages in a thousand that the archive shows a little later than the messages after them.
    var archivedLate: Int
    /// Messages in a thousand that are delivered after a message with a later place in the archive.
    var deliveredLate: Int
    /// Messages in a thousand that get the archive's id of the message before, if the message before is another sender's.
    var twins: Int
    /// Whether a new resource gets the stanzas that another resource had not acknowledged, and the messages that came while no
    /// resource was there. The archive has the messages all the same.
    let deliversOffline: Bool
    /// How long a session outlives its connection, in seconds.
    let sessionTimeout: Int
    /// Whether the first question for a page after a start is answered with an internal error.
    var archiveStartsSlowly = false
    /// Whether the account's messages are archived.
    var hasArchive = true
    /// Which messages the archive keeps.
    var policy = Policy.always
    /// Whether the server tells its policy (XEP-0441).
    var hasPreferences = true

    /// Prosody's `default_archive_policy`, ejabberd's `default` of mod_mam.
    public enum Policy: String, Sendable {
        case always
        /// Messages exchanged with contacts.
        case roster
        case never
    }

    /// Whether the server tells the time (XEP-0202).
    var tellsTime = true

    /// Whether the account has nodes of its own (XEP-0163).
    var hasNodes = true
    /// How many items a node keeps that the server makes by itself; nil for any number (measured).
    var mostItemsOfMadeNodes: Int? { name.hasPrefix("ejabberd") ? 1 : nil }
    /// Whether the server refuses most options of publishing (measured).
    var knowsFewOptions: Bool { name == "ejabberd 23.01" }

    /// Whether contacts, other clients and archives do what programs do that nobody has measured here.
    var hasOddPeers = true

    var login = LoginProfile()

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

    /// The same server without its occasional behaviour.
    var atEase: Profile {
        var profile = self
        (profile.archivedLate, profile.deliveredLate, profile.twins) = (0, 0, 0)
        (profile.hasSeveralHeirs, profile.archiveStartsSlowly, profile.hasOddPeers) = (false, false, false)
        return profile
    }

    /// The same server with the archive turned off for the account.
    var withoutArchive: Profile {
        var profile = self
        (profile.hasArchive, profile.hasSeveralHeirs, profile.deliveredLate) = (false, false, 0)
        return profile
    }

    /// The same server with an archive that does not keep everything. Messages lost between several heirs could be found nowhere
    /// then, so there are no several heirs.
    func archiving(_ policy: Policy, hasPreferences: Bool) -> Profile {
        var profile = self
        (profile.policy, profile.hasPreferences) = (policy, hasPreferences)
        if policy != .always { profile.hasSeveralHeirs = false }
        return profile
    }

    /// Whether the archive keeps anything.
    var keepsAny: Bool { hasArchive && policy != .never }

    /// Whether messages exchanged with the bare address `peer` are kept. The account has one contact.
    func keeps(_ peer: String) -> Bool {
        guard hasArchive else { return false }
        return switch policy {
        case .always: true
        case .roster: peer == "romeo@example.net"
        case .never: false
        }
    }

    /// Whether a message without a text is archived, depending on its content (measured): everything with a hint (XEP-0334).
    func archives(_ message: Element) -> Bool {
        if message.child("body", "jabber:client") != nil || message.child("store", "urn:xmpp:hints") != nil {
            return true
        }
        let isReceipt = message.child("received", "urn:xmpp:receipts") != nil
        return archivesReceipts && (isReceipt || message.child("displayed", "urn:xmpp:chat-markers:0") != nil)
    }

    /// Whether receipts and markers are archived without a hint.
    private var archivesReceipts: Bool { name.hasPrefix("Prosody") }

    public static let all = [prosody12, ejabberd23, prosody13, ejabberd24]
}
