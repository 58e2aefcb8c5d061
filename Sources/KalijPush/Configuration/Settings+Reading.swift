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
    /// - Throws: `SettingsError` for the first fault: no JSON, a key missing, unknown or of the wrong kind, or settings
    ///   that contradict each other.
    public init(json bytes: [UInt8], folder: String = "") throws(SettingsError) {
        let value = try Self.parse(bytes)
        var reader = try SettingsReader(value, path: "", folder: folder)
        component = try ComponentSettings(&reader)
        (modules, defaultModule) = try Self.readModules(&reader)
        reconnect = try Self.readTimeout(&reader)
        limits = try LimitSettings(&reader)
        state = try StateSettings(&reader)
        http = try HTTPSettings(&reader)
        nodes = try NodesSettings(&reader)
        try reader.finish()
        try checkNodes()
    }

    private func checkNodes() throws(SettingsError) {
        guard let nodes else { return }
        // What is shared was kept before, and what was read is kept with its place in the stream.
        guard state.database != nil else { throw SettingsError("state.database", "is missing: nodes need it") }
        guard nodes.longestBlock >= longestBlock else {
            throw SettingsError("nodes.longestBlock", "is shorter than the longest block of a module or a domain")
        }
    }

    private static func parse(_ bytes: [UInt8]) throws(SettingsError) -> JSONValue {
        do throws(JSONCheck.Fault) {
            try JSONCheck.check(bytes)
        } catch {
            throw SettingsError("", "no valid JSON: \(error)")
        }
        guard let value = try? JSONValue.parse(bytes) else { throw SettingsError("", "no valid JSON") }
        return value
    }

    private static func readModules(
        _ reader: inout SettingsReader
    ) throws(SettingsError) -> ([String: ModuleSettings], String?) {
        guard var object = try reader.object("pushModules") else { throw SettingsError("pushModules", "is missing") }
        var modules: [String: ModuleSettings] = [:]  // characters: by the names of configured modules.
        var standard: String?
        for name in object.keys {
            guard !name.isEmpty, name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) else {
                throw SettingsError("pushModules", "a module's name is empty or has a control character")
            }
            guard var entry = try object.object(name) else {
                throw SettingsError(object.path(of: name), "is null, an object is wanted")
            }
            if try entry.bool("is_default_module", false) {
                if let standard {
                    throw SettingsError(
                        entry.path(of: "is_default_module"), "\"\(standard)\" is the default module already")
                }
                standard = name
            }
            modules[name] = try ModuleSettings(&entry)
            try entry.finish()
        }
        guard !modules.isEmpty else { throw SettingsError("pushModules", "has no module") }
        return (modules, standard)
    }

    private static func readTimeout(_ reader: inout SettingsReader) throws(SettingsError) -> Milliseconds {
        guard var timeout = try reader.object("timeout") else { return 10_000 }
        let reconnect = try timeout.time("xmppconnectionError", 10_000, least: 100)
        try timeout.finish()
        return reconnect
    }
}

extension ComponentSettings {
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        guard var object = try reader.object("component") else { throw SettingsError("component", "is missing") }
        hostname = try object.host("componentHostname")
        key = try object.requiredText("componentKey")
        serverHost = try object.host("serverHostname")
        guard object.value("serverPort") != nil else { throw SettingsError("component.serverPort", "is missing") }
        serverPort = UInt16(clamping: try object.integer("serverPort", 0, in: 1...65_535))
        try object.finish()
    }
}

extension LimitSettings {
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        self.init()
        guard var object = try reader.object("limits") else { return }
        let many = 1...100_000_000
        tokensPerDomain = try object.integer("tokensPerDomain", tokensPerDomain, in: many)
        domains = try object.integer("domains", domains, in: many)
        inFlight = try object.integer("inFlight", inFlight, in: many)
        queued = try object.integer("queued", queued, in: many)
        stanzaBytes = try object.integer("stanzaBytes", stanzaBytes, in: 2_048...1_048_576)
        tokenBytes = try object.integer("tokenBytes", tokenBytes, in: 64...16_384)
        knownTokens = try object.integer("knownTokens", knownTokens, in: many)
        blockedTokens = try object.integer("blockedTokens", blockedTokens, in: many)
        blockedDomains = try object.integer("blockedDomains", blockedDomains, in: many)
        mistakesPercent = try object.integer("mistakesPercent", mistakesPercent, in: 1...100)
        window = try object.time("window", window, least: 1_000)
        deadTokens = try object.integer("deadTokens", deadTokens, in: 1...10_000)
        malformed = try object.integer("malformed", malformed, in: 1...10_000)
        domainBlock = try object.time("domainBlock", domainBlock, least: 1_000)
        newTokenFailures = try object.integer("newTokenFailures", newTokenFailures, in: 1...10_000)
        known = try object.time("known", known, least: 60_000)
        answer = try object.time("answer", answer, least: 1_000)
        guard answer <= 10_000 else { throw SettingsError("limits.answer", "is more than 10s") }
        breakerTokens = try object.integer("breakerTokens", breakerTokens, in: 2...10_000)
        probe = try object.time("probe", probe, least: 100)
        try object.finish()
    }
}

extension StateSettings {
    init(_ reader: inout SettingsReader) throws(SettingsError) {
        guard var object = try reader.object("state") else { return }
        database = try object.file("database")
        secretFile = try object.file("secretFile")
        previousSecretFile = try object.file("previousSecretFile")
        try object.finish()
        // Keys hashed with a secret that nobody keeps could not be found again.
        if database != nil, secretFile == nil {
            throw SettingsError("state.secretFile", "is missing: the database needs it")
        }
    }
}

extension HTTPSettings {
    init?(_ reader: inout SettingsReader) throws(SettingsError) {
        guard var object = try reader.object("http") else { return nil }
        address = try object.text("address") ?? "127.0.0.1"
        var bytes = in6_addr()
        guard inet_pton(AF_INET, address, &bytes) == 1 || inet_pton(AF_INET6, address, &bytes) == 1 else {
            throw SettingsError(object.path(of: "address"), "an IPv4 or IPv6 address is wanted, not a name")
        }
        port = UInt16(clamping: try object.integer("port", 9_820, in: 1...65_535))
        hosts = Set(try object.texts("hosts").map { $0.lowercased() })
        try object.finish()
    }
}
