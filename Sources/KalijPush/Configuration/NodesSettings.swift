/// The settings of a node that shares its blocks with other nodes.
public struct NodesSettings: Sendable, Equatable {
    /// The name of this node, unique among the nodes.
    public var name: String
    /// The names of the other nodes, whose records this node applies.
    public var others: [String]
    /// The file of the secret that all nodes share.
    public var secretFile: String
    /// The files of further secrets that are accepted for reading, while a secret is being replaced.
    public var otherSecretFiles: [String]
    /// The longest block; has to be the same on all nodes.
    public var longestBlock: Milliseconds
    /// Servers that are independent of each other; each one suffices alone.
    public var redis: [RedisSettings]
    /// The prefix of the streams' names, written in braces.
    public var prefix: String

    func stream(_ node: String) -> String { "{\(prefix)}:log:\(node)" }
}

extension NodesSettings? {
    /// Whether the two differ in nothing but the other nodes.
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
    init?(_ reader: inout SettingsReader) {
        guard var object = reader.object("nodes") else { return nil }
        let name = object.text("name") ?? object.missing("name")
        object.checkNode("name", name)
        let listed = object.texts("others")
        for other in listed { object.checkNode("others", other) }
        if Set(listed).count < listed.count { object.record("others", "names a node twice") }
        self.name = name
        // The same list may be on all nodes.
        others = listed.filter { $0 != name }
        if others.count >= 1_000 { object.record("others", "more than 999 are not taken") }
        secretFile = object.file("secretFile") ?? object.missing("secretFile")
        otherSecretFiles = object.files("otherSecretFiles")
        if otherSecretFiles.count > 3 { object.record("otherSecretFiles", "more than three are not taken") }
        longestBlock = object.time("longestBlock", 7 * 86_400_000, least: 86_400_000)
        prefix = object.text("prefix") ?? "kp"
        object.checkNode("prefix", prefix)
        redis = []
        for var server in object.objects("redis") { redis.append(RedisSettings(&server)) }
        if !(1...3 ~= redis.count) || Set(redis.map(\.label)).count < redis.count {
            object.record("redis", "one to three different servers are wanted")
        }
        object.finish()
    }
}

extension RedisSettings {
    init(_ server: inout SettingsReader) {
        host = server.host("host")
        port = server.port("port", 6_379)
        user = server.text("user")
        passwordFile = server.file("passwordFile")
        isSecured = server.bool("tls", false)
        caFile = server.file("caFile")
        if caFile != nil, !isSecured { server.record("caFile", "has no effect without tls") }
        if user != nil { server.missing("passwordFile") }
        server.finish()
    }
}

extension SettingsReader {
    /// Checks the name of a node, for a key of Redis. An empty one was noted before.
    fileprivate func checkNode(_ key: String, _ name: String) {
        let isName = name.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-_.".utf8.contains(byte)
        }
        guard !isName || name.utf8.count > 32 else { return }
        record(key, "\"\(name)\" is no name: 1 to 32 letters, digits, \"-\", \"_\" or \".\"")
    }
}
