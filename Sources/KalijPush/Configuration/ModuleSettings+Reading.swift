extension ModuleSettings {
    init(_ entry: inout SettingsReader) {
        switch entry.text("type") ?? entry.missing("type") {
        case "apple": provider = .apns(APNsSettings(&entry))
        case "google": provider = .fcm(FCMSettings(&entry))
        case "webpush": provider = .webPush(WebPushSettings(&entry))
        case "demo", "log": provider = .log
        case let type:
            if !type.isEmpty { entry.record("type", "must be apple, google, webpush or log") }
            provider = .log
            // Without a valid type no section is an unknown key.
            (_, _, _) = (entry.value("apns"), entry.value("fcm"), entry.value("webpush"))
        }
        rate = RateSettings(&entry)
        blocking = BlockingSettings(&entry)
        backgroundForUnimportant = entry.bool("backgroundForUnimportant", false)
    }
}

extension RateSettings {
    init(_ entry: inout SettingsReader) {
        self.init()
        guard var object = entry.object("ratelimit") else { return }
        isEnabled = object.bool("enabled", isEnabled)
        window = object.time("ratelimitTime", window, least: 1)
        hold = object.time("hardRatelimitTime", hold, least: 1)
        // fpush keeps a token this long; here a token costs nothing after its window, so there is nothing to set.
        _ = object.time("ratelimitCleanupInterval", 300_000)
        object.finish()
    }
}

extension BlockingSettings {
    init(_ entry: inout SettingsReader) {
        self.init()
        guard var object = entry.object("blacklist") else { return }
        (dead, deadAgain) = Self.times("invalidToken", in: &object, (dead, deadAgain))
        (bad, badAgain) = Self.times("pushError", in: &object, (bad, badAgain))
        hit = object.time("blockExtension", hit)
        object.finish()
    }

    private static func times(
        _ key: String, in object: inout SettingsReader, _ standard: (Milliseconds, Milliseconds)
    ) -> (Milliseconds, Milliseconds) {
        guard var times = object.object(key) else { return standard }
        // "inital": fpush's spelling.
        let first = times.time("initalBlocking", standard.0, least: 1)
        let again = times.time("extendedBlocking", standard.1, least: 1)
        times.finish()
        return (first, again)
    }
}

extension APNsSettings {
    init(_ entry: inout SettingsReader) {
        guard var object = entry.requiredObject("apns") else {
            (credentials, topic) = (.key(path: "", keyID: "", teamID: ""), "")
            return
        }
        credentials = Self.readCredentials(&object)
        topic = object.word("topic") ?? object.missing("topic")
        switch object.text("environment") {
        case nil, "production": isSandbox = false
        case "sandbox": isSandbox = true
        default: object.record("environment", "production or sandbox is wanted")
        }
        if let data = object.value("additionalData") { additionalData = Self.readData(data, &object) }
        // fpush has whole seconds here, unlike elsewhere.
        idle = Milliseconds(object.integer("poolIdleTimeout", 600, in: 1...86_400)) * 1000
        request = Milliseconds(object.integer("requestTimeout", 5, in: 1...10)) * 1000
        connections = object.integer("connections", connections, in: 1...64)
        expiration = object.time("expiration", expiration)
        collapseID = object.word("collapseId")
        if let collapseID, collapseID.utf8.count > 64 { object.record("collapseId", "has more than 64 bytes") }
        title = object.text("title") ?? title
        body = object.text("body") ?? body
        endpoint = EndpointSettings(&object)
        object.finish()
    }

    private static func readData(_ data: JSONValue, _ object: inout SettingsReader) -> [String: JSONValue] {
        guard case .object(let members) = data else {
            object.record("additionalData", "is \(data.kind), an object is wanted")
            return [:]
        }
        if members["aps"] != nil { object.record("additionalData.aps", "\"aps\" is made by the server") }
        if data.bytes.count > 3_000 {
            object.record("additionalData", "has more than 3,000 bytes; a payload holds 4,096")
        }
        return members
    }

    private static func readCredentials(_ object: inout SettingsReader) -> Credentials {
        let certificate = object.file("certFilePath")
        // A p12 file may have an empty password.
        let password = object.value("certPassword")?.text
        let key = object.file("keyFilePath")
        let keyID = object.word("keyId")
        let teamID = object.word("teamId")
        if let certificate {
            if key != nil { object.record("keyFilePath", "cannot stand beside \"certFilePath\"") }
            object.missing("certPassword")
            return .certificate(path: certificate, password: password ?? "")
        }
        guard let key else {
            if object.value("keyFilePath") == nil { object.missing("certFilePath", ", and so is \"keyFilePath\"") }
            return .key(path: "", keyID: "", teamID: "")
        }
        object.missing("keyId")
        object.missing("teamId")
        return .key(path: key, keyID: keyID ?? "", teamID: teamID ?? "")
    }
}

extension FCMSettings {
    init(_ entry: inout SettingsReader) {
        guard var object = entry.requiredObject("fcm") else {
            secretPath = ""
            return
        }
        secretPath = object.file("fcmSecretPath") ?? object.missing("fcmSecretPath")
        let longest: Milliseconds = 28 * 86_400_000
        idle = Milliseconds(object.integer("poolIdleTimeout", 600, in: 1...86_400)) * 1000
        request = Milliseconds(object.integer("requestTimeout", 5, in: 1...10)) * 1000
        connections = object.integer("connections", connections, in: 1...64)
        expiration = object.time("expiration", expiration)
        if expiration > longest { object.record("expiration", "Google keeps a push for 28 days at most") }
        endpoint = EndpointSettings(&object)
        object.finish()
    }
}

extension EndpointSettings {
    init?(_ parent: inout SettingsReader) {
        guard var object = parent.object("endpoint") else { return nil }
        host = object.host("host")
        port = object.port("port", 443)
        caFile = object.file("caFile")
        object.finish()
    }
}
