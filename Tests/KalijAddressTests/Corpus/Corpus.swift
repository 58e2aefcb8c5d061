import Foundation

/// The address corpus of shared/data/jids, read where it lies; its format is described at the head of `valid`.
struct Corpus {
    struct Valid {
        let input: String
        let local: String?
        let domain: String
        let resource: String?
    }

    let valid: [Valid]
    let invalid: [String]

    /// The folder named by KALIJ_SHARED, or `shared` beside one of the folders that this file lies in.
    static let folder: URL? = {
        let files = FileManager.default
        if let named = ProcessInfo.processInfo.environment["KALIJ_SHARED"] {
            let folder = URL(fileURLWithPath: named).appendingPathComponent("data/jids")
            return files.fileExists(atPath: folder.path) ? folder : nil
        }
        var parent = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while parent.path != "/" {
            parent.deleteLastPathComponent()
            let folder = parent.appendingPathComponent("shared/data/jids")
            if files.fileExists(atPath: folder.appendingPathComponent("valid").path) { return folder }
        }
        return nil
    }()

    /// Outside CI a machine without the corpus may skip its tests; in CI they run and fail.
    static let isWanted = folder != nil || ProcessInfo.processInfo.environment["CI"] != nil

    struct Missing: Error, CustomStringConvertible {
        let description = "the address corpus is missing: set KALIJ_SHARED to the folder that holds data/jids"
    }

    init() throws {
        guard let folder = Self.folder else { throw Missing() }
        let valid = try String(contentsOf: folder.appendingPathComponent("valid"), encoding: .utf8)
        self.valid = Self.entries(of: valid, header: "\njid:\n", separators: 2).compactMap { entry in
            let parts = entry[1].split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3 else { return nil }
            return Valid(
                input: entry[0], local: parts[0].isEmpty ? nil : parts[0], domain: parts[1],
                resource: parts[2].isEmpty ? nil : parts[2])
        }
        let invalid = try String(contentsOf: folder.appendingPathComponent("invalid"), encoding: .utf8)
        self.invalid = Self.entries(of: invalid, header: "\ninvalid jid:\n", separators: 1).map { $0[0] }
    }

    private static func entries(of text: String, header: String, separators: Int) -> [[String]] {
        text.components(separatedBy: header).dropFirst().map { block in
            block.components(separatedBy: "\u{1E}\n").prefix(separators).map { $0 }
        }.filter { $0.count == separators }
    }
}
