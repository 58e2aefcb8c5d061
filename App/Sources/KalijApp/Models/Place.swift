import Glibc

/// The conversation that was open, and its scroll position.
public struct Place: Sendable, Equatable {
    public let key: ConversationKey
    /// The row of the message at the top; nil if the newest message was visible.
    public let message: Int64?

    public init(_ key: ConversationKey, message: Int64?) { (self.key, self.message) = (key, message) }
}

/// The file with the place, beside the database. It is not synced to disk, because the loss of a place costs only a click.
public struct PlaceFile: Sendable {
    private let path: String

    public init(directory: String) { path = directory + "/app.place" }

    public func load() -> Place? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 8192)
        let count = fread(&bytes, 1, bytes.count, file)
        let lines = String(decoding: bytes.prefix(count), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3 else { return nil }
        let key = ConversationKey(account: String(lines[0]), jid: String(lines[1]))
        return Place(key, message: Int64(lines[2]))
    }

    /// Stores the place; nil if no conversation is open.
    public func keep(_ place: Place?) {
        guard let place else {
            unlink(path)
            return
        }
        let message = place.message.map(String.init) ?? ""
        try? SmallFile.write("\(place.key.account)\n\(place.key.jid)\n\(message)\n", to: path)
    }
}
