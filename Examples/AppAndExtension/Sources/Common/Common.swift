import Foundation
import KalijClient

/// Shared by the application and its extension.
public enum Common {
    /// The shared directory. On Apple's systems the directory of their app group.
    public static func directory(_ words: [String]) throws -> AccountDirectory {
        guard let path = words.first else { throw Problem("the first argument is the directory that both share") }
        return AccountDirectory(path)
    }

    /// At once, also into a pipe: this process may be killed at any moment.
    public static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// Runs `body`, and reports errors.
    public static func run(_ body: @Sendable ([String]) async throws -> Void) async {
        do {
            try await body(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }
}

/// Wrong usage, in words.
public struct Problem: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}
