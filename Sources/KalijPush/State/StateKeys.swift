import KalijStore

/// The keys made from the server's secret, and from the former secret while it is being replaced.
struct StateKeys {
    let hasher: KeyHasher
    /// Of the other cluster secrets, and of this node's former secret.
    let otherHashers: [KeyHasher]
    /// The secrets of all nodes, the one that writes first; empty for a node alone.
    let cluster: [ClusterSecret]
    let seal: Seal
    let previousSeal: Seal?

    /// Reads the secrets; makes a secret if there is none yet.
    /// - Throws: `SettingsError`.
    init(_ settings: StateSettings, _ nodes: NodesSettings?) throws {
        let secret =
            try settings.secretFile.map { try HashingSecret.make($0, key: "state.secretFile") }
            ?? HashingSecret.random()
        let previous = try settings.previousSecretFile.map {
            try HashingSecret.read($0, key: "state.previousSecretFile")
        }
        cluster = try nodes.map { try Self.cluster($0) } ?? []
        let hashing = cluster.isEmpty ? [secret] : cluster.map(\.hashing)
        hasher = try KeyHasher(secret: hashing[0])
        otherHashers = try (hashing.dropFirst() + (previous.map { [$0] } ?? [])).map { try KeyHasher(secret: $0) }
        seal = try Seal(secret: secret)
        previousSeal = try previous.map { try Seal(secret: $0) }
    }

    private static func cluster(_ nodes: NodesSettings) throws -> [ClusterSecret] {
        var secrets = [try ClusterSecret(try HashingSecret.read(nodes.secretFile, key: "nodes.secretFile"))]
        for file in nodes.otherSecretFiles {
            secrets.append(try ClusterSecret(try HashingSecret.read(file, key: "nodes.otherSecretFiles")))
        }
        return secrets
    }

    /// Notes in the database whose secret its hashes are from.
    /// - Returns: a line if the secret is another one than before.
    /// - Throws: `StoreError`.
    func record(in database: PushDatabase) throws -> (LinePriority, String)? {
        guard let before = try database.record(print: hasher.print), before != hasher.print else { return nil }
        if otherHashers.contains(where: { $0.print == before }) {
            return (.notice, "the secret is new; blocks and known tokens of the former secret are still found")
        }
        let lost = "blocks, known tokens and queued pushes from before are of no use"
        return (.alarm, "the secret has changed, and state.previousSecretFile is not the former secret: \(lost)")
    }

    /// Reports what is wrong with the files, or would be if the files were made; changes nothing.
    /// - Throws: `SettingsError`, or `StoreError` if the database is unusable.
    static func check(_ settings: StateSettings, _ nodes: NodesSettings?) throws {
        if let nodes { _ = try cluster(nodes) }
        if let file = settings.secretFile {
            let key = "state.secretFile"
            if File.exists(file) {
                _ = try HashingSecret.read(file, key: key)
            } else {
                try File.checkFolder(of: file, key: key)
            }
        }
        if let file = settings.previousSecretFile { _ = try HashingSecret.read(file, key: "state.previousSecretFile") }
        guard let file = settings.database else { return }
        // The database's other files are made in the same folder.
        try File.checkFolder(of: file, key: "state.database")
        try PushDatabase.check(file)
    }
}
