import Glibc

extension Settings {
    /// Reads a `settings.json` with all keys, but not the files named there.
    ///
    /// - Parameter path: the file; relative paths inside begin at its folder.
    /// - Throws: `SettingsError`.
    public init(file path: String) throws(SettingsError) {
        try self.init(json: try File.read(path, key: ""), folder: File.folder(of: path) ?? "")
    }

    /// Reads the text of a `settings.json`.
    ///
    /// - Parameter folder: where relative paths begin; empty for the working directory.
    /// - Throws: `SettingsError` with all faults: no JSON, a key missing, unknown or of the wrong kind, or settings
    ///   that contradict each other.
    public init(json bytes: [UInt8], folder: String = "") throws(SettingsError) {
        let errors = SettingsErrors()
        var reader = SettingsReader(try Self.parse(bytes), path: "", folder: folder, errors)
        component = ComponentSettings(&reader)
        (modules, defaultModule) = Self.readModules(&reader)
        reconnect = Self.readTimeout(&reader)
        limits = LimitSettings(&reader)
        state = StateSettings(&reader)
        http = HTTPSettings(&reader)
        nodes = NodesSettings(&reader)
        reader.finish()
        checkNodes(errors)
        try errors.check()
    }

    private func checkNodes(_ errors: SettingsErrors) {
        guard let nodes else { return }
        // What is shared was kept before, and what was read is kept with its place in the stream.
        if state.database == nil { errors.record("state.database", "is missing: nodes need it") }
        if nodes.longestBlock < longestBlock {
            errors.record("nodes.longestBlock", "is shorter than the longest block of a module or a domain")
        }
    }

    private static func parse(_ bytes: [UInt8]) throws(SettingsError) -> JSONValue {
        do throws(JSONValidator.Fault) {
            try JSONValidator.check(bytes)
        } catch {
            throw SettingsError("", "no valid JSON: \(error)")
        }
        guard let value = try? JSONValue.parse(bytes) else { throw SettingsError("", "no valid JSON") }
        return value
    }

    private static func readModules(_ reader: inout SettingsReader) -> ([String: ModuleSettings], String?) {
        guard var object = reader.requiredObject("pushModules") else { return ([:], nil) }
        var modules: [String: ModuleSettings] = [:]  // characters: by the names of configured modules.
        var standard: String?
        for name in object.keys {
            if name.isEmpty || !name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) {
                reader.record("pushModules", "a module's name is empty or has a control character")
            }
            guard var entry = object.object(name) else {
                object.record(name, "is null, an object is wanted")
                continue
            }
            if entry.bool("is_default_module", false) {
                if let standard {
                    entry.record("is_default_module", "\"\(standard)\" is the default module already")
                }
                standard = standard ?? name
            }
            modules[name] = ModuleSettings(&entry)
            entry.finish()
        }
        if object.keys.isEmpty { reader.record("pushModules", "has no module") }
        return (modules, standard)
    }

    private static func readTimeout(_ reader: inout SettingsReader) -> Milliseconds {
        guard var timeout = reader.object("timeout") else { return 10_000 }
        let reconnect = timeout.time("xmppconnectionError", 10_000, least: 100)
        timeout.finish()
        return reconnect
    }
}

extension ComponentSettings {
    init(_ reader: inout SettingsReader) {
        guard var object = reader.requiredObject("component") else {
            (hostname, key, serverHost, serverPort) = ("", "", "", 0)
            return
        }
        hostname = object.host("componentHostname")
        key = object.text("componentKey") ?? object.missing("componentKey")
        serverHost = object.host("serverHostname")
        serverPort = object.port("serverPort", nil)
        object.finish()
    }
}

extension LimitSettings {
    init(_ reader: inout SettingsReader) {
        self.init()
        guard var object = reader.object("limits") else { return }
        let many = 1...100_000_000
        tokensPerDomain = object.integer("tokensPerDomain", tokensPerDomain, in: many)
        domains = object.integer("domains", domains, in: many)
        inFlight = object.integer("inFlight", inFlight, in: many)
        queued = object.integer("queued", queued, in: many)
        stanzaBytes = object.integer("stanzaBytes", stanzaBytes, in: 2_048...1_048_576)
        tokenBytes = object.integer("tokenBytes", tokenBytes, in: 64...16_384)
        knownTokens = object.integer("knownTokens", knownTokens, in: many)
        blockedTokens = object.integer("blockedTokens", blockedTokens, in: many)
        blockedDomains = object.integer("blockedDomains", blockedDomains, in: many)
        mistakesPercent = object.integer("mistakesPercent", mistakesPercent, in: 1...100)
        window = object.time("window", window, least: 1_000)
        deadTokens = object.integer("deadTokens", deadTokens, in: 1...10_000)
        malformed = object.integer("malformed", malformed, in: 1...10_000)
        domainBlock = object.time("domainBlock", domainBlock, least: 1_000)
        newTokenFailures = object.integer("newTokenFailures", newTokenFailures, in: 1...10_000)
        known = object.time("known", known, least: 60_000)
        answer = object.time("answer", answer, least: 1_000)
        if answer > 10_000 { object.record("answer", "is more than 10s") }
        breakerTokens = object.integer("breakerTokens", breakerTokens, in: 2...10_000)
        probe = object.time("probe", probe, least: 100)
        object.finish()
    }
}

extension StateSettings {
    init(_ reader: inout SettingsReader) {
        guard var object = reader.object("state") else { return }
        database = object.file("database")
        secretFile = object.file("secretFile")
        previousSecretFile = object.file("previousSecretFile")
        object.finish()
        // Keys hashed with a secret that nobody keeps could not be found again.
        if database != nil { object.missing("secretFile", ": the database needs it") }
    }
}

extension HTTPSettings {
    init?(_ reader: inout SettingsReader) {
        guard var object = reader.object("http") else { return nil }
        address = object.text("address") ?? "127.0.0.1"
        if !Self.isAddress(address) {
            object.record("address", "an IPv4 or IPv6 address is wanted, not a name")
        }
        port = object.port("port", 9_820)
        hosts = Set(object.texts("hosts").map { $0.lowercased() })
        object.finish()
    }

    static func isAddress(_ text: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
    }
}
