import Foundation

/// The Swift compiler, asked for its knowledge about sources.
struct Compiler {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Type-checks files of a module and returns their syntax trees, in the order of the files.
    ///
    /// - Parameters:
    ///   - module: the module.
    ///   - files: the files, some of the module's.
    ///   - name: the mangled name of a type. A tree without this name is not parsed, and comes out empty.
    static func syntaxTrees(
        of module: SourceModule, files: [String], mentioning name: String
    ) throws -> [[String: Any]] {
        guard !files.isEmpty else { return [] }
        let scratch = buildFolder + "/query-literals/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let outputs = files.indices.map { "\(scratch)/\($0).json" }
        var arguments = ["-frontend", "-dump-ast", "-dump-ast-format", "json", "-module-name", module.name]
        arguments += try settings(scratch)
        if !module.files.contains(where: { $0.hasSuffix("/main.swift") }) { arguments.append("-parse-as-library") }
        for (file, output) in zip(files, outputs) { arguments += ["-primary-file", file, "-o", output] }
        arguments += module.files.filter { !files.contains($0) }
        let (status, text) = try run("swiftc", arguments, errorsTo: scratch + "/errors")
        guard status == 0 else { throw Failure(description: "\(module.folder) does not compile:\n\(text)") }
        return try outputs.map { output in
            let data = try Data(contentsOf: URL(filePath: output))
            guard data.range(of: Data(name.utf8)) != nil else { return [:] }
            guard let tree = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
                throw Failure(description: "the compiler's output for \(module.folder) is no syntax tree")
            }
            return tree
        }
    }

    /// The build folder of this test and of the modules beside the test.
    private static let buildFolder: String = {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (program as NSString).deletingLastPathComponent
    }()

    /// SwiftPM's settings: language mode, modules, C modules, macros, the package for `package`.
    private static func settings(_ scratch: String) throws -> [String] {
        var settings = ["-swift-version", "6", "-enable-testing", "-suppress-warnings", "-I", buildFolder + "/Modules"]
        settings += ["-D", "SWIFT_PACKAGE", "-D", "DEBUG"]
        let identity = (Repository.root as NSString).lastPathComponent.lowercased()
        settings += ["-package-name", String(identity.map { $0.isLetter || $0.isNumber ? $0 : "_" })]
        for map in Repository.moduleMaps { settings += ["-Xcc", "-fmodule-map-file=" + map] }
        for (name, folder) in Repository.headerFolders {
            let map = "\(scratch)/\(name).modulemap"
            try "module \(name) { umbrella \"\(folder)\" export * }\n".write(
                toFile: map, atomically: true, encoding: .utf8)
            settings += ["-Xcc", "-fmodule-map-file=" + map]
        }
        for flag in try libraryFlags() { settings += ["-Xcc", flag] }
        let (_, compiler) = try run("sh", ["-c", "readlink -f \"$(command -v swiftc)\""])
        let toolchain = (compiler as NSString).deletingLastPathComponent
        for folder in ["plugins", "plugins/testing"] {
            settings += ["-plugin-path", toolchain + "/../lib/swift/host/" + folder]
        }
        return settings
    }

    /// The flags of pkg-config for the libraries in the package's manifest.
    private static func libraryFlags() throws -> [String] {
        let manifest = try String(contentsOfFile: Repository.root + "/Package.swift", encoding: .utf8)
        let libraries = manifest.matches(of: /pkgConfig: "([^"]+)"/).map { String($0.1) }
        let (_, flags) = try run("pkg-config", ["--cflags"] + libraries)
        return flags.split(separator: " ").map(String.init)
    }

    /// Runs a program. Returns the exit status and the output without the last line end, or the errors if they go to a
    /// file.
    private static func run(
        _ program: String, _ arguments: [String], errorsTo errors: String? = nil
    ) throws -> (Int32, String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        if let errors {
            _ = FileManager.default.createFile(atPath: errors, contents: nil)
            process.standardError = FileHandle(forWritingAtPath: errors)
            try process.run()
            process.waitUntilExit()
            return (process.terminationStatus, try String(contentsOfFile: errors, encoding: .utf8))
        }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        return (process.terminationStatus, text.trimmingCharacters(in: .newlines))
    }
}
