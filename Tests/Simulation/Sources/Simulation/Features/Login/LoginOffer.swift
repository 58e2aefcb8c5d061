/// What a server offers for a login.
struct LoginOffer: Equatable {
    var mechanisms: [String] = []
    /// The mechanisms of SASL2; empty without SASL2.
    var mechanisms2: [String] = []
    /// The kinds of channel binding (XEP-0440); nil without a list.
    var bindings: [String]?
    var resumesInline = true
    var bindsInline = true
    /// Whether a client can be inactive from the beginning (XEP-0386).
    var knowsClientState = false
    /// The mechanisms for tokens.
    var fast: [String] = []
    /// Whether the server tells the hash of its lists (XEP-0474).
    var hasHash = false
    /// Whether a man in the middle has changed the lists.
    var isForged = false

    var bindsExporter: Bool { bindings?.contains("tls-exporter") ?? false }

    /// The children of `<stream:features/>`.
    var features: String {
        var xml = "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\(Self.list(mechanisms))</mechanisms>"
        if let bindings {
            let list = bindings.map { "<channel-binding type='\($0)'/>" }.joined()
            xml += "<sasl-channel-binding xmlns='urn:xmpp:sasl-cb:0'>\(list)</sasl-channel-binding>"
        }
        guard !mechanisms2.isEmpty else { return xml }
        var inline = ""
        if bindsInline {
            let names = ["urn:xmpp:sm:3", "urn:xmpp:carbons:2"] + (knowsClientState ? ["urn:xmpp:csi:0"] : [])
            let list = names.map { "<feature var='\($0)'/>" }.joined()
            inline += "<bind xmlns='urn:xmpp:bind:0'><inline>\(list)</inline></bind>"
        }
        if resumesInline { inline += "<sm xmlns='urn:xmpp:sm:3'/>" }
        if !fast.isEmpty { inline += "<fast xmlns='urn:xmpp:fast:0'>\(Self.list(fast))</fast>" }
        return xml
            + "<authentication xmlns='urn:xmpp:sasl:2'>\(Self.list(mechanisms2))<inline>\(inline)</inline></authentication>"
    }

    private static func list(_ names: [String]) -> String {
        names.map { "<mechanism>\($0)</mechanism>" }.joined()
    }

    /// The lists as XEP-0474 hashes them (section 5.1).
    func hashed(isSASL2: Bool) -> [UInt8] {
        let names = isSASL2 ? mechanisms2 : mechanisms
        // All names are ASCII.
        let lists = [names] + (bindings.map { [$0] } ?? [])
        return Array(lists.map { $0.sorted().joined(separator: "\u{1E}") }.joined(separator: "\u{1F}").utf8)
    }

    /// All of the offer in an order of its own.
    var summary: String {
        [mechanisms.sorted(), mechanisms2.sorted(), bindings?.sorted() ?? ["none"], fast.sorted()]
            .map { $0.joined(separator: " ") }.joined(separator: ";") + " \(resumesInline) \(bindsInline)"
    }
}

extension LoginOffer {
    /// What the server of this profile offers (measured), without edits.
    init(_ profile: Profile) {
        let habits = profile.login
        guard !habits.isPlain else {
            mechanisms = ["PLAIN"]
            return
        }
        switch profile.name {
        case "Prosody 0.12": mechanisms = ["SCRAM-SHA-1", "PLAIN"]
        case "Prosody 13.0":
            mechanisms = ["SCRAM-SHA-1", "SCRAM-SHA-1-PLUS", "PLAIN", "OAUTHBEARER"]
            bindings = ["tls-exporter"]
            (knowsClientState, hasHash) = (true, habits.isOneFlight)
            if habits.isOneFlight { mechanisms2 = mechanisms }
            if habits.isOneFlight, habits.hasTokens { fast = ["HT-SHA-256-NONE", "HT-SHA-256-EXPR"] }
        case "ejabberd 24.12":
            mechanisms = ["PLAIN", "SCRAM-SHA-256-PLUS", "SCRAM-SHA-256", "X-OAUTH2"]
            bindings = ["tls-exporter", "tls-server-end-point"]
            hasHash = true
            if habits.isOneFlight { mechanisms2 = mechanisms }
            if habits.isOneFlight, habits.hasTokens {
                fast = ["NONE", "UNIQ", "EXPR", "ENDP"].map { "HT-SHA-256-" + $0 }
            }
        default: mechanisms = ["PLAIN", "SCRAM-SHA-256-PLUS", "SCRAM-SHA-256", "X-OAUTH2"]
        }
    }

    func edited(_ edit: LoginProfile.Edit.Kind) -> LoginOffer {
        var offer = self
        switch edit {
        case .withoutFAST: offer.fast = []
        case .withoutInlineResume: offer.resumesInline = false
        case .withoutBind: offer.bindsInline = false
        case .withMore:
            offer.mechanisms.append("X-MORE")
            if !offer.mechanisms2.isEmpty { offer.mechanisms2.append("X-MORE") }
        case .plainAlone:
            offer = LoginOffer()
            offer.mechanisms = ["PLAIN"]
        case .withoutSASL2: (offer.mechanisms2, offer.fast) = ([], [])
        case .withoutBinding:
            offer.mechanisms.removeAll { $0.hasSuffix("-PLUS") }
            offer.mechanisms2.removeAll { $0.hasSuffix("-PLUS") }
            offer.bindings = nil
        }
        offer.isForged = [.plainAlone, .withoutSASL2, .withoutBinding].contains(edit) && offer != self
        return offer
    }
}
