import KalijXML

/// The ten queries of the yardstick: queries for text, and queries that ask whether something is there.
enum Texts {
    static let body: Query<String> = "body#"
    static let from: Query<String> = "@from"
    static let stanzaID: Query<String> = "{urn:xmpp:sid:0}stanza-id@id"
    static let archivedBody: Query<String> =
        "{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/{jabber:client}message/body#"
    static let archivedStamp: Query<String> =
        "{urn:xmpp:mam:2}result/{urn:xmpp:forward:0}forwarded/{urn:xmpp:delay}delay@stamp"
    static let role: Query<String> = "{http://jabber.org/protocol/muc#user}x/item@role"
    static let key: Query<String> = "{eu.siacs.conversations.axolotl}encrypted/header/key<prekey=true>#"
}

enum Checks {
    static let archiving: Query<Element> =
        "{http://jabber.org/protocol/disco#info}query/feature<var=urn:xmpp:mam:2>"
    static let markable: Query<Element> = "{urn:xmpp:chat-markers:0}markable"
    static let noStore: Query<Element> = "{urn:xmpp:hints}no-store"
}
