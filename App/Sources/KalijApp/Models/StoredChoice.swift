import Glibc
import KalijClient

/// A choice of the user's about the app itself, in a file beside the database. Not synced to disk: the loss of one costs a click.
public protocol StoredChoice: RawRepresentable, Sendable where RawValue == String {
    /// The name of the file.
    static var file: String { get }
}

extension StoredChoice {
    private static func path(_ directory: String) -> String { directory + "/" + file }

    /// - Returns: nil if the user has not chosen yet.
    public static func load(in directory: String) -> Self? {
        guard let file = fopen(path(directory), "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return Self(rawValue: String(decoding: bytes.prefix(count).prefix { $0 != 10 }, as: UTF8.self))
    }

    /// Stores the choice; the former one remains if that fails.
    public func keep(in directory: String) throws(FileError) {
        try SmallFile.write(rawValue + "\n", to: Self.path(directory))
    }
}
