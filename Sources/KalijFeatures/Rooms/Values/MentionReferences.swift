import KalijAddress
import KalijXML

/// Mentions as elements of a message (XEP-0372): who is meant, whatever the words are.
enum MentionReferences {
    private static let namespace = "urn:xmpp:reference:0"
    /// The most mentions of a message, written and read.
    private static let most = 20
    /// The most characters of a nickname that is recognized in a text.
    private static let longestNick = 100

    static func exist(in message: Element) -> Bool { message.child("reference", namespace) != nil }

    /// Whether `message` refers to the account: by its address, or by its nickname in the room.
    static func contain(_ account: JID, as nick: String, in room: JID, _ message: Element) -> Bool {
        message.children("reference", namespace).prefix(most).contains { reference in
            guard reference["type"] == "mention", let jid = reference["uri"].flatMap(XMPPURI.init)?.jid else {
                return false
            }
            return jid.bare == account || jid.bare == room && jid.resource == nick
        }
    }

    /// The elements for the words of `text` that begin with an at sign and continue with a nickname.
    /// - Parameter people: the nicknames with the bare addresses, nil where the room does not show them.
    static func elements(for text: String, _ people: [(nick: String, jid: JID?)], in room: JID) -> [Element] {
        let scalars = Array(text.unicodeScalars)
        let known = Dictionary(people.map { (Array($0.nick.unicodeScalars), $0) }) { first, _ in first }
        let longest = min(known.keys.map(\.count).max() ?? 0, longestNick)
        let starts = scalars.indices.lazy.filter { scalars[$0] == "@" && ($0 == 0 || !isPartOfWord(scalars[$0 - 1])) }
        // characters: places.
        let found = starts.prefix(most).compactMap { start -> Element? in
            let begin = start + 1
            let ends = (begin..<min(scalars.count, begin + longest)).reversed().map { $0 + 1 }
            for end in ends where end == scalars.count || !isPartOfWord(scalars[end]) {
                if let person = known[Array(scalars[begin..<end])] {
                    let jid = person.jid?.bare ?? (try? room.with(resource: person.nick))
                    return jid.map { element(start, end, $0) }
                }
            }
            return nil
        }
        return Array(found)
    }

    /// - Parameters:
    ///   - begin: the place of the at sign, in code points (XEP-0426).
    ///   - end: the place behind the name.
    private static func element(_ begin: Int, _ end: Int, _ jid: JID) -> Element {
        Element(
            "reference", xmlns: namespace,
            attributes: [
                "type": "mention", "begin": "\(begin)", "end": "\(end)", "uri": XMPPURI.link(to: jid),
            ])
    }

    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }
}
