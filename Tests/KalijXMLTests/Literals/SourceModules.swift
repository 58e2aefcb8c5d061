import Foundation
import Testing

/// A module of this repository with sources that may hold queries.
struct SourceModule: Sendable, CustomTestStringConvertible {
    /// The folder, from the root of the repository.
    let folder: String
    /// The Swift files, absolute.
    let files: [String]

    var name: String { (folder as NSString).lastPathComponent }
    var testDescription: String { folder }
}

/// The sources to check.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().standardizedFileURL.path

    /// KalijXML and every importing module: of this package, of the nested packages, of the examples.
    static let modules: [SourceModule] = {
        var files: [String: [String]] = [:]
        for file in paths(endingIn: ".swift") { files[moduleFolder(of: file), default: []].append(file) }
        let importing = files.filter { folder, files in
            folder == "Sources/KalijXML" || files.contains(where: importsKalijXML)
        }
        return importing.keys.sorted().map { folder in
            SourceModule(folder: folder, files: (importing[folder] ?? []).sorted().map { root + "/" + $0 })
        }
    }()

    /// The functions of KalijXML that take a query.
    static let queryFunctions = functions(in: modules.first { $0.folder == "Sources/KalijXML" }?.files ?? [])

    /// The functions in `files` that take a query, or something made of queries.
    static func functions(in files: [String]) -> Set<String> {
        var names: Set<String> = []
        for file in files {
            guard let text = try? String(contentsOfFile: file, encoding: .utf8), text.contains("Query<") else {
                continue
            }
            // A declaration may go over several lines.
            names.formUnion(text.matches(of: /func\s+(\w+)(?:(?!func\s)[^{}])*?Query</).map { String($0.1) })
        }
        return names
    }

    /// The module maps of the C modules.
    static let moduleMaps = paths(endingIn: "/module.modulemap").map { root + "/" + $0 }

    /// The headers of C modules without a module map, where SwiftPM makes a map: their `include` folders by name.
    static let headerFolders: [String: String] = {
        var folders: [String: String] = [:]
        for header in paths(endingIn: ".h") {
            let folder = (header as NSString).deletingLastPathComponent
            let module = (folder as NSString).deletingLastPathComponent
            guard folder.hasSuffix("/include"), !moduleMaps.contains(where: { $0.hasPrefix("\(root)/\(module)/") })
            else { continue }
            folders[(module as NSString).lastPathComponent] = root + "/" + folder
        }
        return folders
    }()

    /// Files by the end of their paths, without hidden folders, fixtures and build products.
    private static func paths(endingIn suffix: String) -> [String] {
        guard let all = FileManager.default.enumerator(atPath: root) else { return [] }
        var found: [String] = []
        while let path = all.nextObject() as? String {
            let name = (path as NSString).lastPathComponent
            if name.hasPrefix(".") || name == "Fixtures" {
                all.skipDescendants()
            } else if path.hasSuffix(suffix) {
                found.append(path)
            }
        }
        return found
    }

    /// `Sources/X` of `Sources/X/Y/Z.swift`, and likewise below `Tests`; for other files their folder.
    private static func moduleFolder(of path: String) -> String {
        let parts = path.split(separator: "/").dropLast()
        guard let place = parts.lastIndex(where: { $0 == "Sources" || $0 == "Tests" }), place + 1 < parts.endIndex
        else { return parts.joined(separator: "/") }
        return parts[...(place + 1)].joined(separator: "/")
    }

    private static func importsKalijXML(_ path: String) -> Bool {
        guard let text = try? String(contentsOfFile: root + "/" + path, encoding: .utf8) else { return false }
        return text.split(separator: "\n").contains { line in
            line.hasSuffix("import KalijXML") && !line.contains("//")
        }
    }
}
