import KalijXML

extension Element {
    /// Whether this is a message, a presence or an iq of a client's stream (RFC 6120 section 8).
    public var isStanza: Bool {
        for name in Self.stanzaNames where isNamed(name, Namespace.client) { return true }
        return false
    }

    static let stanzaNames = ["message", "presence", "iq"]
}
