/// The beginnings of transcripts, each leading to a point of the negotiation.
enum Script {
    private static let sasl = "urn:ietf:params:xml:ns:xmpp-sasl"

    /// STARTTLS is asked for.
    static let startTLS =
        """
        * connected
        C: HEADER>
        S: HEADER
        S: <stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>
        C: <starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>

        """

    static let proceed = "S: <proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>\n! start TLS\n"

    /// Direct TLS, and the server has sent its header.
    static let secured = "* connected secured\nC: SECURED\nS: HEADER\n"

    /// The server offers these mechanisms inside TLS.
    static func mechanisms(_ names: [String]) -> String {
        let list = names.map { "<mechanism>\($0)</mechanism>" }.joined()
        return secured + "S: <stream:features><mechanisms xmlns='\(sasl)'>\(list)</mechanisms></stream:features>\n"
    }

    /// Our proof is sent (RFC 5802, 5).
    static let proven =
        mechanisms(["SCRAM-SHA-1"]) + """
            C: ANY
            S: <challenge xmlns='\(sasl)'>{r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096}</challenge>
            C: ANY

            """

    /// Logged in; the owner has to choose.
    static func authenticated(features: String) -> String {
        proven + """
            S: <success xmlns='\(sasl)'>{v=rmF9pqV8S7suAoZWja4dJRkFsKQ=}</success>
            ! authenticated SCRAM-SHA-1 with keys
            ! next stream
            C: SECURED
            S: HEADER
            S: <stream:features>\(features)</stream:features>
            ! offered
            ! plan

            """
    }

    static let authenticated = authenticated(
        features: "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/><sm xmlns='urn:xmpp:sm:3'/>")

    /// A new session; stream management is asked for.
    static let bound =
        """
        * plan bind=balcony
        C: ANY
        S: <iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
        <jid>user@example.org/balcony</jid></bind></iq>
        ! bound user@example.org/balcony
        C: ANY

        """
}
