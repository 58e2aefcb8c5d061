import Foundation
import KalijLab
import Testing

/// What was accepted, compared with what has arrived: in the receivers' histories, in the server's archive and on the server's disk.
struct FileBooks {
    private let world: World
    private let files: [KilledFile]
    private let receivers: [String: EncryptedUser]
    private let sender: String
    /// How many files are on the server's disk as they were accepted, and announced.
    private(set) var whole = 0
    /// How many more whole files are on the server's disk.
    private(set) var second = 0
    /// How many files on the server's disk are not whole.
    private(set) var torsos = 0

    /// A text that says that everything before has come.
    static let marker = "that was all"

    /// - Parameters:
    ///   - world: whose `kalij` is the sender's.
    ///   - receivers: by their addresses.
    init(
        _ world: World, _ files: [KilledFile], _ receivers: [String: EncryptedUser], sender: String = "alice@localhost"
    ) {
        (self.world, self.files, self.receivers, self.sender) = (world, files, receivers, sender)
    }

    /// A message that a receiver has.
    private struct Line {
        let id: String
        let body: String
    }

    /// What was sent to `user`, oldest first.
    private func lines(_ user: String) throws -> [Line] {
        guard let kalij = receivers[user]?.kalij else { return [] }
        return try kalij("--json", "history", sender, "--limit", "100000").objects()
            .filter { $0["event"] as? String == "message" }
            .map { Line(id: $0["origin_id"] as? String ?? "?", body: $0["body"] as? String ?? "?") }
            .filter { $0.body != Self.marker }
    }

    private func files(to user: String) -> [KilledFile] { files.filter { $0.to == user } }

    /// Whether everything has arrived, perhaps more than once.
    func hasCome() async throws -> Bool {
        try receivers.keys.allSatisfy { user in
            let lines = try lines(user)
            let expected = files(to: user)
            return Set(lines.map(\.id)).isSuperset(of: expected.map(\.id))
                && Set(lines.map(\.body)).isSuperset(of: expected.compactMap(\.text))
        }
    }

    /// Everything that is not as promised.
    mutating func problems() async throws -> [String] {
        var problems: [String] = []
        var urls: [(file: KilledFile, url: String)] = []
        for user in receivers.keys.sorted() {
            let lines = try lines(user)
            problems += listProblems(lines, user)
            let known = Dictionary(lines.map { ($0.id, $0.body) }) { first, _ in first }
            urls += files(to: user).compactMap { file in known[file.id].map { (file, $0) } }
            problems += try await archiveProblems(user, known)
        }
        problems += try await diskProblems(urls)
        for file in files where file.isEncrypted { problems += try await decryptedProblems(file) }
        let failed = try await world.sql("SELECT message_id, error FROM message WHERE state = 'failed'")
        return problems + (failed.isEmpty ? [] : ["failed: \(failed)"])
    }

    /// Each file and each text is there once, a text next to its file, and nothing else.
    private func listProblems(_ lines: [Line], _ user: String) -> [String] {
        let expected = files(to: user)
        let ids = Set(expected.map(\.id))
        let texts = Set(expected.compactMap(\.text))
        var problems = Self.difference("files for \(user)", lines.map(\.id).filter(ids.contains), expected.map(\.id))
        problems += Self.difference(
            "texts for \(user)", lines.map(\.body).filter(texts.contains), expected.compactMap(\.text))
        problems += lines.filter { !ids.contains($0.id) && !texts.contains($0.body) }.map { "for \(user): \($0)" }
        for file in expected {
            guard let text = file.text, let place = lines.firstIndex(where: { $0.id == file.id }) else { continue }
            if lines.dropFirst(place + 1).first?.body != text { problems.append("\(text) is not next to its file") }
        }
        return problems
    }

    /// The server's archive has each once, too, and in it what is encrypted is encrypted.
    private func archiveProblems(_ user: String, _ known: [String: String]) async throws -> [String] {
        let peer = world.peer(user.split(separator: "@").first.map(String.init) ?? "")
        let entries = try await peer.archive().filter { $0.sender?.hasPrefix(sender) ?? false }
        let expected = files(to: user)
        let ids = Set(expected.map(\.id))
        let found = entries.filter { ids.contains($0.originID ?? $0.id ?? "") }
        var problems = Self.difference(
            "archive of \(user)", found.map { $0.originID ?? $0.id ?? "" }, expected.map(\.id))
        let secret = Set(expected.filter(\.isEncrypted).map(\.id))
        for entry in found {
            let isEncrypted = !entry.encrypted.isEmpty
            if isEncrypted != secret.contains(entry.originID ?? entry.id ?? "") {
                problems.append("encrypted \(isEncrypted): \(entry)")
            }
            if !isEncrypted, entry.body != known[entry.originID ?? ""] { problems.append("in the archive: \(entry)") }
        }
        return problems
    }

    /// What is announced is on the server's disk: the file as it was accepted, or what becomes of it by encrypting (decrypted below).
    private mutating func diskProblems(_ urls: [(file: KilledFile, url: String)]) async throws -> [String] {
        let store = try #require(world.server.uploads)
        let hashes = try await Self.hashes(of: store.files(), world.laboratory)
        var problems: [String] = []
        var announced: [String: Int] = [:]
        for (file, url) in urls {
            guard let path = path(url, file, store), let hash = hashes[path] else {
                problems.append("\(file.id): nothing at \(url)")
                continue
            }
            if !file.isEncrypted, hash != file.sha256 { problems.append("\(file.id): other bytes at \(url)") }
            whole += 1
            announced[hash, default: 0] += 1
        }
        // An encrypted file that is sent again has the same bytes.
        let copies = Dictionary(grouping: hashes.values) { $0 }.mapValues(\.count)
        second = announced.reduce(0) { $0 + (copies[$1.key] ?? 0) - $1.value }
        torsos = hashes.count - whole - second
        return problems
    }

    private func path(_ url: String, _ file: KilledFile, _ store: UploadStore) -> String? {
        guard file.isEncrypted else { return store.path(of: url) }
        guard url.hasPrefix("aesgcm://"), let end = url.firstIndex(of: "#") else { return nil }
        return store.path(of: "https://" + url[url.startIndex..<end].dropFirst("aesgcm://".count))
    }

    /// The receiver has the file's bytes after decrypting.
    private func decryptedProblems(_ file: KilledFile) async throws -> [String] {
        let path = world.laboratory.path("decrypted-\(file.sha256)")
        let result = try #require(receivers[file.to]).kalij("download", file.id, "--to", path)
        guard result.status == 0 else { return ["\(file.id) was not fetched: \(result)"] }
        let hash = try await Self.hashes(of: [path], world.laboratory)[path]
        try FileManager.default.removeItem(atPath: path)
        return hash == file.sha256 ? [] : ["\(file.id) has other bytes when decrypted"]
    }

    private static func difference(_ what: String, _ found: [String], _ expected: [String]) -> [String] {
        guard found.sorted() != expected.sorted() else { return [] }
        let twice = Dictionary(grouping: found) { $0 }.filter { $1.count > 1 }.keys.sorted()
        return ["\(what): missing \(Set(expected).subtracting(found).sorted()), twice \(twice)"]
    }

    /// The SHA-256 of files, by their paths. A file that goes meanwhile, an unfinished upload, has none.
    static func hashes(of paths: [String], _ laboratory: Laboratory) async throws -> [String: String] {
        var hashes: [String: String] = [:]
        for start in stride(from: 0, to: paths.count, by: 500) {
            let portion = Array(paths[start..<min(start + 500, paths.count)])
            let output = try await laboratory.run(
                "/bin/sh", ["-c", "sha256sum \"$@\" 2>/dev/null; true", "sh"] + portion)
            for line in output.split(separator: "\n") { hashes[String(line.dropFirst(66))] = String(line.prefix(64)) }
        }
        return hashes
    }
}
