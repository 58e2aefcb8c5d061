import FoundationEssentials

/// A place for one file on a server (XEP-0363).
public struct PeerUploadSlot: Decodable, Sendable {
    /// The URL to upload to.
    public let put: String
    /// The URL of the file afterwards.
    public let get: String
    /// Names and values of headers for the upload.
    public let headers: [[String]]
    /// The announced size of the largest file in bytes, as text; one for each form that has the field.
    /// ejabberd announces the size in two forms, for two versions of the standard.
    public let announced: [String]
}

/// A server's refusal of a slot.
public struct UploadRefusal: Error, Decodable, Sendable {
    /// The condition of the error (RFC 6120, 8.3.3).
    public let condition: String
    /// `max-file-size` in the error, in bytes, as text.
    public let limit: String?
    /// As in ``PeerUploadSlot/announced``.
    public let announced: [String]
}

extension Peer {
    /// Requests a slot from the server's upload service, and logs out.
    /// - Parameters:
    ///   - name: of the file, without the path.
    ///   - size: in bytes.
    /// - Throws: ``UploadRefusal`` if the service refuses; ``LaboratoryError`` if the client fails.
    public func slot(for name: String, size: Int) async throws -> PeerUploadSlot {
        let launch = try command("slot", ["--service", "upload." + server.domain, "--name", name, "--size", "\(size)"])
        let output = try await laboratory.run(launch.executable, launch.arguments, environment: launch.environment)
        let line = Data((output.split(separator: "\n").last ?? "").utf8)
        if let refusal = try? JSONDecoder().decode(UploadRefusal.self, from: line) { throw refusal }
        return try JSONDecoder().decode(PeerUploadSlot.self, from: line)
    }
}
