extension ModuleSettings {
    init(_ entry: inout SettingsReader) throws(SettingsError) {
        switch try entry.requiredText("type") {
        case "apple": provider = .apns(try APNsSettings(&entry))
        case "google": provider = .fcm(try FCMSettings(&entry))
        case "demo", "log": provider = .log
        default: throw SettingsError(entry.path(of: "type"), "must be apple, google or log")
        }
        rate = try RateSettings(&entry)
        blocking = try BlockingSettings(&entry)
        backgroundForUnimportant = try entry.bool("backgroundForUnimportant", false)
    }
}

extension RateSettings {
    init(_ entry: inout SettingsReader) throws(SettingsError) {
        self.init()
        guard var object = try entry.object("ratelimit") else { return }
        isEnabled = try object.bool("enabled", isEnabled)
        window = try object.time("ratelimitTime", window, least: 1)
        hold = try object.time("hardRatelimitTime", hold, least: 1)
        // fpush keeps a token this long; here a token costs nothing after its window, so there is nothing to set.
        _ = try object.time("ratelimitCleanupInterval", 300_000)
        try object.finish()
    }
}

extension BlockingSettings {
    init(_ entry: inout SettingsReader) throws(SettingsError) {
        self.init()
        guard var object = try entry.object("blacklist") else { return }
        (dead, deadAgain) = try Self.times("invalidToken", in: &object, (dead, deadAgain))
        (bad, badAgain) = try Self.times("pushError", in: &object, (bad, badAgain))
        hit = try object.time("blockExtension", hit)
        try object.finish()
    }

    private static func times(
        _ key: String, in object: inout SettingsReader, _ standard: (Milliseconds, Milliseconds)
    ) throws(SettingsError) -> (Milliseconds, Milliseconds) {
        guard var times = try object.object(key) else { return standard }
        // "inital": fpush's spelling.
        let first = try times.time("initalBlocking", standard.0, least: 1)
        let again = try times.time("extendedBlocking", standard.1, least: 1)
        try times.finish()
        return (first, again)
    }
}

extension APNsSettings {
    init(_ entry: inout SettingsReader) throws(SettingsError) {
        guard var object = try entry.object("apns") else { throw SettingsError(entry.path(of: "apns"), "is missing") }
        credentials = try Self.readCredentials(&object)
        topic = try object.requiredWord("topic")
        switch try object.text("environment") {
        case nil, "production": isSandbox = false
        case "sandbox": isSandbox = true
        default: throw SettingsError(object.path(of: "environment"), "production or sandbox is wanted")
        }
        if let data = object.value("additionalData") {
            guard case .object(let members) = data else {
                throw SettingsError(object.path(of: "additionalData"), "is \(data.kind), an object is wanted")
            }
            guard members["aps"] == nil else {
                throw SettingsError(object.path(of: "additionalData.aps"), "\"aps\" is made by the server")
            }
            guard data.bytes.count <= 3_000 else {
                throw SettingsError(
                    object.path(of: "additionalData"), "has more than 3,000 bytes; a payload holds 4,096")
            }
            additionalData = members
        }
        // fpush has whole seconds here, unlike elsewhere.
        idle = Milliseconds(try object.integer("poolIdleTimeout", 600, in: 1...86_400)) * 1000
        request = Milliseconds(try object.integer("requestTimeout", 5, in: 1...10)) * 1000
        connections = try object.integer("connections", connections, in: 1...64)
        expiration = try object.time("expiration", expiration)
        collapseID = try object.word("collapseId")
        if let collapseID, collapseID.utf8.count > 64 {
            throw SettingsError(object.path(of: "collapseId"), "has more than 64 bytes")
        }
        title = try object.text("title") ?? title
        body = try object.text("body") ?? body
        endpoint = try EndpointSettings(&object)
        try object.finish()
    }

    private static func readCredentials(_ object: inout SettingsReader) throws(SettingsError) -> Credentials {
        let certificate = try object.file("certFilePath")
        // A p12 file may have an empty password.
        let password = object.value("certPassword")?.text
        let key = try object.file("keyFilePath")
        let keyID = try object.word("keyId")
        let teamID = try object.word("teamId")
        if let certificate {
            guard key == nil else {
                throw SettingsError(object.path(of: "keyFilePath"), "cannot stand beside \"certFilePath\"")
            }
            guard let password else { throw SettingsError(object.path(of: "certPassword"), "is missing") }
            return .certificate(path: certificate, password: password)
        }
        guard let key else {
            throw SettingsError(object.path(of: "certFilePath"), "is missing, and so is \"keyFilePath\"")
        }
        guard let keyID else { throw SettingsError(object.path(of: "keyId"), "is missing") }
        guard let teamID else { throw SettingsError(object.path(of: "teamId"), "is missing") }
        return .key(path: key, keyID: keyID, teamID: teamID)
    }
}

extension FCMSettings {
    init(_ entry: inout SettingsReader) throws(SettingsError) {
        guard var object = try entry.object("fcm") else { throw SettingsError(entry.path(of: "fcm"), "is missing") }
        guard let path = try object.file("fcmSecretPath") else {
            throw SettingsError(object.path(of: "fcmSecretPath"), "is missing")
        }
        secretPath = path
        let longest: Milliseconds = 28 * 86_400_000
        idle = Milliseconds(try object.integer("poolIdleTimeout", 600, in: 1...86_400)) * 1000
        request = Milliseconds(try object.integer("requestTimeout", 5, in: 1...10)) * 1000
        connections = try object.integer("connections", connections, in: 1...64)
        expiration = try object.time("expiration", expiration)
        guard expiration <= longest else {
            throw SettingsError(object.path(of: "expiration"), "Google keeps a push for 28 days at most")
        }
        endpoint = try EndpointSettings(&object)
        try object.finish()
    }
}

extension EndpointSettings {
    init?(_ parent: inout SettingsReader) throws(SettingsError) {
        guard var object = try parent.object("endpoint") else { return nil }
        host = try object.host("host")
        port = UInt16(clamping: try object.integer("port", 443, in: 1...65_535))
        caFile = try object.file("caFile")
        try object.finish()
    }
}
