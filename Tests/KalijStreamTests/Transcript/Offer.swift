import Foundation
import KalijStream

/// A server's offers inside TLS, to be written as features; and what an attacker makes of the offers.
struct Offer: Sendable {
    var sasl = ["SCRAM-SHA-1", "SCRAM-SHA-1-PLUS", "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS", "PLAIN"]
    var sasl2: [String] = []
    var bindings: [String]? = ["tls-exporter", "tls-server-end-point"]
    var inline = ["sm", "bind", "enable", "carbons", "csi"]
    var fast: [String] = []

    /// With SASL2 and all that belongs to it.
    static let modern: Offer = {
        var offer = Offer()
        offer.sasl2 = offer.sasl
        offer.fast = ["HT-SHA-256-NONE", "HT-SHA-256-EXPR", "HT-SHA-256-ENDP", "HT-SHA-256-UNIQ"]
        return offer
    }()

    /// As ejabberd 23.01: mechanisms with binding, and no kinds.
    static let old: Offer = {
        var offer = Offer()
        offer.bindings = nil
        return offer
    }()

    /// Without channel binding.
    static let unbound: Offer = {
        var offer = Offer()
        (offer.sasl, offer.bindings) = (["SCRAM-SHA-1", "SCRAM-SHA-256", "PLAIN"], nil)
        return offer
    }()

    /// The exporter's data is 0, 1, 2, ... 31; the end point's 32 times 0xAB.
    static let both = ChannelBindings([
        .tlsExporter: (0..<32).map { $0 }, .tlsServerEndPoint: [UInt8](repeating: 0xAB, count: 32),
    ])
    static let exporter = ChannelBindings([.tlsExporter: (0..<32).map { $0 }])
    static let endPoint = ChannelBindings([.tlsServerEndPoint: [UInt8](repeating: 0xAB, count: 32)])

    /// The offers as a line of a transcript.
    var line: String { "S: \(features)\n" }

    var features: String {
        func list(_ names: [String]) -> String { names.map { "<mechanism>\($0)</mechanism>" }.joined() }
        var xml = "<stream:features>"
        if let bindings {
            let kinds = bindings.map { "<channel-binding type='\($0)'/>" }.joined()
            xml += "<sasl-channel-binding xmlns='urn:xmpp:sasl-cb:0'>\(kinds)</sasl-channel-binding>"
        }
        if !sasl.isEmpty { xml += "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\(list(sasl))</mechanisms>" }
        if !sasl2.isEmpty {
            xml += "<authentication xmlns='urn:xmpp:sasl:2'>\(list(sasl2))<inline>"
            if inline.contains("sm") { xml += "<sm xmlns='urn:xmpp:sm:3'/>" }
            if inline.contains("bind") {
                let names = ["enable": "urn:xmpp:sm:3", "carbons": "urn:xmpp:carbons:2", "csi": "urn:xmpp:csi:0"]
                let features = inline.compactMap { names[$0] }.map { "<feature var='\($0)'/>" }.joined()
                xml += "<bind xmlns='urn:xmpp:bind:0'><inline>\(features)</inline></bind>"
            }
            if !fast.isEmpty { xml += "<fast xmlns='urn:xmpp:fast:0'>\(list(fast))</fast>" }
            xml += "</inline></authentication>"
        }
        return xml + "</stream:features>"
    }
}

extension Negotiation.Configuration {
    static let agent = "d4565fa7-4d72-4749-b3d3-740edbf87770"

    /// With SASL2.
    static func modern(
        credentials: Credentials = .password("pencil"), pins: DowngradePins = DowngradePins(), tokens: [FASTToken] = []
    ) -> Negotiation.Configuration {
        test(credentials: credentials, pins: pins, userAgent: agent, tokens: tokens)
    }
}

extension KnownServer {
    /// Learned at a server with this offer.
    static func learned(
        _ offer: Offer, _ bindings: ChannelBindings, _ configuration: Negotiation.Configuration = .modern()
    ) -> KnownServer {
        let script = Script.secured + offer.line
        let isSASL2 = !offer.sasl2.isEmpty && configuration.userAgent != nil
        let mechanism: SASLExchange = offer.bindings == nil ? .unbound : .bound
        return Transcript(configuration, bindings: bindings).outcome(
            script + (isSASL2 ? "! plan\n* plan\n" : "") + "C: ANY\n" + mechanism.toSuccess(isSASL2: isSASL2)
                + (isSASL2 ? "" : "! next stream\nC: SECURED\n")
        ).known
    }
}

/// The user of RFC 5802, 5, by SCRAM-SHA-256, as computed with Python's hashlib and hmac.
struct SASLExchange: Sendable {
    let first: String
    let proof: String
    let signature: String
    static let nonce = "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j"
    static let challenge = nonce + ",s=QSXCR+Q6sek8bf92,i=4096"

    /// Bound by `Offer.exporter`.
    static let bound = SASLExchange(
        first: "p=tls-exporter,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
        proof: "c=cD10bHMtZXhwb3J0ZXIsLAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f,\(nonce),"
            + "p=D2/elnCpWN5vzfsupEyIK53QUqQZA7VoJLvCOkoiEBw=",
        signature: "v=/x9512I1emNk+1VDcdC2VMj4vnhDWtaJHavjWnKxnkM=")
    /// Bound by `Offer.endPoint`.
    static let certified = SASLExchange(
        first: "p=tls-server-end-point,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
        proof: "c=cD10bHMtc2VydmVyLWVuZC1wb2ludCwsq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=,\(nonce),"
            + "p=WnlcJqYUa76dX4UV7xU+2U/I5o7UQZhRWRk6kyXy+o8=",
        signature: "v=w2AYFdtyErrtos+ibFz65hXvnCblnJgH+7uHYhhrVu0=")
    /// Without binding.
    static let unbound = SASLExchange(
        first: "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
        proof: "c=biws,\(nonce),p=qQRLRHGPDGjB+7iVAE7NNi5xEoHKHuLCHPNQ8BTmvds=",
        signature: "v=XKW6VuW1FANROQabnJBz1KaeCnQL/HZByQtX/iU+o30=")

    /// The server's challenge, our proof and the server's success.
    func toSuccess(isSASL2: Bool, content: String = "") -> String {
        let namespace = isSASL2 ? "urn:xmpp:sasl:2" : "urn:ietf:params:xml:ns:xmpp-sasl"
        let data = isSASL2 ? "<additional-data>{\(signature)}</additional-data>" : "{\(signature)}"
        let identity =
            !isSASL2 || content.contains("authorization-identifier")
            ? "" : "<authorization-identifier>user@example.org</authorization-identifier>"
        return """
            S: <challenge xmlns='\(namespace)'>{\(Self.challenge)}</challenge>
            C: <response xmlns='\(namespace)'>{\(proof)}</response>
            S: <success xmlns='\(namespace)'>\(data)\(identity)\(content)</success>
            ! authenticated SCRAM-SHA-256 with keys

            """
    }
}
