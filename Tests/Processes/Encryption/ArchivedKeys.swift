import Foundation
import KalijLab
import KalijRatchet

/// What a server's archive shows of the ratchets.
struct ArchivedKeys {
    /// Messages whose text was not encrypted.
    private(set) var plain: [String] = []
    /// Keys of a ratchet that were used for two contents.
    private(set) var usedTwice: [String] = []
    private(set) var count = 0

    /// - Parameter entries: of all archives.
    init(_ entries: [ArchiveEntry]) throws {
        var contents: [String: [UInt8]] = [:]
        for entry in entries {
            guard let encrypted = entry.encrypted else {
                if let body = entry.body { plain.append(body) }
                continue
            }
            for key in encrypted.keys {
                let bytes = [UInt8](Data(base64Encoded: key.key) ?? Data())
                let message =
                    try key.exchange ? KeyExchange(bytes, .axolotl).message : RatchetMessage(bytes, .axolotl)
                let header = message.header
                let name = "\(encrypted.device) to \(key.device): \(header.key.bytes) \(header.number)"
                if let other = contents[name], other != bytes { usedTwice.append(name) }
                contents[name] = bytes
                count += 1
            }
        }
    }
}
