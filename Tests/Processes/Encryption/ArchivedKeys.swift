import Foundation
import KalijLab
import KalijRatchet

/// What a server's archive shows of the ratchets.
struct ArchivedKeys {
    /// Messages whose text was not encrypted.
    private(set) var plain: [String] = []
    /// What messages for devices of 2 alone show beside the envelope, except what servers need.
    private(set) var exposed: [String] = []
    /// Keys of a ratchet that were used for two contents.
    private(set) var usedTwice: [String] = []
    /// The keys of each namespace.
    private(set) var counts: [String: Int] = [:]
    /// Messages with a part for devices of 0.3 and a part for devices of 2.
    private(set) var mixed = 0

    static let (old, new) = ("eu.siacs.conversations.axolotl", "urn:xmpp:omemo:2")

    /// Of all namespaces.
    var count: Int { counts.values.reduce(0, +) }

    /// The names of parts that everybody may see.
    private static let open: Set<String> = [
        "{urn:xmpp:omemo:2}encrypted", "{urn:xmpp:eme:0}encryption", "{urn:xmpp:hints}store",
        "{urn:xmpp:sid:0}origin-id", "{urn:xmpp:sid:0}stanza-id", "{urn:xmpp:occupant-id:0}occupant-id",
        "{http://jabber.org/protocol/muc#user}x", "{urn:xmpp:delay}delay", "{urn:xmpp:mam:tmp}archived",
    ]

    /// - Parameter entries: of all archives.
    init(_ entries: [ArchiveEntry]) throws {
        var contents: [String: [UInt8]] = [:]
        for entry in entries {
            let namespaces = Set(entry.encrypted.map(\.namespace))
            if namespaces.isEmpty, let body = entry.body { plain.append(body) }
            if namespaces == [Self.new] { exposed += entry.parts.filter { !Self.open.contains($0) } }
            if namespaces.count == 2 { mixed += 1 }
            for part in entry.encrypted { try note(part, &contents) }
        }
    }

    private mutating func note(_ part: ArchiveEntry.Encrypted, _ contents: inout [String: [UInt8]]) throws {
        let dialect = part.namespace == Self.new ? OMEMOVersion.omemo2 : .axolotl
        for key in part.keys {
            let bytes = [UInt8](Data(base64Encoded: key.key) ?? Data())
            let message = try key.exchange ? KeyExchange(bytes, dialect).message : RatchetMessage(bytes, dialect)
            let header = message.header
            let name = "\(part.device) to \(key.device): \(dialect) \(header.key.bytes) \(header.number)"
            if let other = contents[name], other != bytes { usedTwice.append(name) }
            contents[name] = bytes
            counts[part.namespace, default: 0] += 1
        }
    }
}
