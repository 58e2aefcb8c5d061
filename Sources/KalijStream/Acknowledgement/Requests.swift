import KalijXML

/// The elements that a client sends for stream management. None of them is a stanza: they are neither counted nor
/// stored.
extension StreamManagement {
    /// `<a h='...'/>`. Every stanza in the count must be stored in a way that survives a power failure.
    public static func acknowledgement(_ handled: HandledCount) -> [UInt8] {
        Array("<a xmlns='\(Namespace.streamManagement)' h='\(handled)'/>".utf8)
    }

    /// `<r/>`.
    public static let request: [UInt8] = Array("<r xmlns='\(Namespace.streamManagement)'/>".utf8)

    /// `</stream:stream>`: ends the session, not only the connection (XEP-0198, 7).
    public static let end: [UInt8] = Array("</stream:stream>".utf8)

    static func resume(id: String, handled: HandledCount) -> [UInt8] {
        Element(
            "resume", xmlns: Namespace.streamManagement, attributes: ["h": "\(handled)", "previd": id]
        ).bytes(in: Namespace.client)
    }

    static func enable(resumable: Bool, maximum: Int?) -> [UInt8] {
        var attributes: [String: String] = [:]
        if resumable { attributes["resume"] = "true" }
        if let maximum { attributes["max"] = "\(maximum)" }
        return Element("enable", xmlns: Namespace.streamManagement, attributes: attributes)
            .bytes(in: Namespace.client)
    }
}
