import KalijHandlers
import KalijCoordination

/// An intent in the mailbox that waits for the driver.
package struct SharedIntent<Wanted: Intent>: Codable {
    package let id: String
    package let intent: Wanted

    package init(_ intent: Wanted, id: String) { (self.intent, self.id) = (intent, id) }

    package var payload: [UInt8] { get throws { try StoredValue(encoding: self).canonicalBytes } }
}

extension QueuedItem {
    /// The intent in the item, and its id.
    /// - Parameter types: the registered intents.
    /// - Throws: an error with a description if the item is damaged, or of another version.
    package func intent(among types: [any Intent.Type]) throws -> (id: String, any Intent) {
        guard let type = types.first(where: { $0.name == name }) else { throw SharedError.unknown(name) }
        return try open(type)
    }

    private func open<Wanted: Intent>(_ type: Wanted.Type) throws -> (id: String, any Intent) {
        guard let value = StoredValue(canonical: payload) else { throw SharedError.damaged }
        let shared = try value.decoded(as: SharedIntent<Wanted>.self)
        return (shared.id, shared.intent)
    }
}
