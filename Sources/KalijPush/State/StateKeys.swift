import KalijStore

/// The keys made from the server's secret, and from the former secret while it is being replaced.
struct StateKeys {
    let hasher: KeyHasher
    let previousHasher: KeyHasher?
    let seal: Seal
    let previousSeal: Seal?

    /// Reads the secrets; makes a secret if there is none yet.
    /// - Throws: `SettingsError`.
    init(_ settings: StateSettings) throws {
        let secret = try settings.secretFile.map { try Secret.make($0, key: "state.secretFile") } ?? Secret.random()
        let previous = try settings.previousSecretFile.map { try Secret.read($0, key: "state.previousSecretFile") }
        hasher = try KeyHasher(secret: secret)
        previousHasher = try previous.map { try KeyHasher(secret: $0) }
        seal = try Seal(secret: secret)
        previousSeal = try previous.map { try Seal(secret: $0) }
    }

    /// Notes in the database whose secret its hashes are from.
    /// - Returns: a line if the secret is another one than before.
    /// - Throws: `StoreError`.
    func note(in database: PushDatabase) throws -> (LinePriority, String)? {
        guard let before = try database.note(print: hasher.print), before != hasher.print else { return nil }
        if before == previousHasher?.print {
            return (.notice, "the secret is new; blocks and known tokens of the former secret are still found")
        }
        let lost = "blocks, known tokens and queued pushes from before are of no use"
        return (.alarm, "the secret has changed, and state.previousSecretFile is not the former secret: \(lost)")
    }

    /// Reports what is wrong with the files, or would be if the files were made; changes nothing.
    /// - Throws: `SettingsError`, or `StoreError` if the database is of no use.
    static func check(_ settings: StateSettings) throws {
        if let file = settings.secretFile {
            let key = "state.secretFile"
            if File.exists(file) {
                _ = try Secret.read(file, key: key)
            } else {
                try File.checkFolder(of: file, key: key)
            }
        }
        if let file = settings.previousSecretFile { _ = try Secret.read(file, key: "state.previousSecretFile") }
        guard let file = settings.database else { return }
        // The database's other files are made in the same folder.
        try File.checkFolder(of: file, key: "state.database")
        try PushDatabase.check(file)
    }
}
