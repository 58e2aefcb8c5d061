/// Namespaces of streams (RFC 6120, XEP-0198) and of logins (XEP-0386, XEP-0388, XEP-0440, XEP-0484).
enum Namespace {
    static let stream = "http://etherx.jabber.org/streams"
    static let client = "jabber:client"
    /// The namespaces of stanzas: client to server, server to server (RFC 6120, 4.8.3), and of components (XEP-0114).
    static let ofStanzas = [client, "jabber:server", "jabber:component:accept"]
    static let startTLS = "urn:ietf:params:xml:ns:xmpp-tls"
    static let sasl = "urn:ietf:params:xml:ns:xmpp-sasl"
    static let sasl2 = "urn:xmpp:sasl:2"
    static let channelBinding = "urn:xmpp:sasl-cb:0"
    static let bind = "urn:ietf:params:xml:ns:xmpp-bind"
    static let bind2 = "urn:xmpp:bind:0"
    static let fast = "urn:xmpp:fast:0"
    static let carbons = "urn:xmpp:carbons:2"
    static let streamErrors = "urn:ietf:params:xml:ns:xmpp-streams"
    static let stanzaErrors = "urn:ietf:params:xml:ns:xmpp-stanzas"
    static let streamManagement = "urn:xmpp:sm:3"
    static let clientState = "urn:xmpp:csi:0"
    static let limits = "urn:xmpp:stream-limits:0"
}
