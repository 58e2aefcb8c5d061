/// Several nodes that share their blocks.
public struct NodesSettings: Sendable, Equatable {
    /// The name of this node, another one on each.
    public var name: String
    /// The other nodes, whose records are taken.
    public var others: [String]
    /// The file with the secret of all nodes.
    public var secretFile: String
    /// Secrets that are accepted beside, while one is being replaced.
    public var otherSecretFiles: [String]
    /// The same on all nodes: no block lasts longer.
    public var longestBlock: Milliseconds
    /// Servers independent of each other; each is enough alone.
    public var redis: [RedisSettings]
    /// The streams' names begin with this, in braces.
    public var prefix: String

    func stream(_ node: String) -> String { "{\(prefix)}:log:\(node)" }
}

extension NodesSettings? {
    /// Whether nothing differs but the other nodes.
    func isLike(_ other: NodesSettings?) -> Bool {
        var one = self
        one?.others = other?.others ?? []
        return one == other
    }
}

/// A Redis or Valkey server.
public struct RedisSettings: Sendable, Equatable {
    public var host: String
    public var port: UInt16
    public var user: String?
    public var passwordFile: String?
    /// Whether the connection is secured with TLS.
    public var isSecured: Bool
    public var caFile: String?

    /// Names the server in the database and in metrics.
    var label: String { "\(host):\(port)" }
}

extension NodesSettings {
    init?(_ reader: inout SettingsReader) throws(SettingsError) {
        guard var object = try reader.object("nodes") else { return nil }
        let name = try object.node("name", object.requiredText("name"))
        var others: [String] = []
        for other in try object.texts("others") { others.append(try object.node("others", other)) }
        guard Set(others).count == others.count else {
            throw SettingsError(object.path(of: "others"), "names a node twice")
        }
        // The same list may be on all nodes.
        others.removeAll { $0 == name }
        guard others.count < 1_000 else {
            throw SettingsError(object.path(of: "others"), "more than 999 are not taken")
        }
        self.name = name
        self.others = others
        guard let file = try object.file("secretFile") else {
            throw SettingsError(object.path(of: "secretFile"), "is missing")
        }
        secretFile = file
        otherSecretFiles = try object.files("otherSecretFiles")
        guard otherSecretFiles.count <= 3 else {
            throw SettingsError(object.path(of: "otherSecretFiles"), "more than three are not taken")
        }
        longestBlock = try object.time("longestBlock", 7 * 86_400_000, least: 86_400_000)
        prefix = try object.node("prefix", object.text("prefix") ?? "kp")
        redis = []
        for var server in try object.objects("redis") { redis.append(try RedisSettings(&server)) }
        guard 1...3 ~= redis.count, Set(redis.map(\.label)).count == redis.count else {
            throw SettingsError(object.path(of: "redis"), "one to three different servers are wanted")
        }
        try object.finish()
    }
}

extension RedisSettings {
    init(_ server: inout SettingsReader) throws(SettingsError) {
        host = try server.host("host")
        port = UInt16(clamping: try server.integer("port", 6_379, in: 1...65_535))
        user = try server.text("user")
        passwordFile = try server.file("passwordFile")
        isSecured = try server.bool("tls", false)
        caFile = try server.file("caFile")
        if caFile != nil, !isSecured { throw SettingsError(server.path(of: "caFile"), "has no effect without tls") }
        if user != nil, passwordFile == nil { throw SettingsError(server.path(of: "passwordFile"), "is missing") }
        try server.finish()
    }
}

extension SettingsReader {
    /// The name of a node, for a key of Redis.
    fileprivate func node(_ key: String, _ name: String) throws(SettingsError) -> String {
        let isName = name.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-_.".utf8.contains(byte)
        }
        guard isName, 1...32 ~= name.utf8.count else {
            throw SettingsError(path(of: key), "\"\(name)\" is no name: 1 to 32 letters, digits, \"-\", \"_\" or \".\"")
        }
        return name
    }
}
