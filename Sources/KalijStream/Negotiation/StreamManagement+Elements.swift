import KalijXML

/// The elements that a client sends for stream management. None of them is a stanza: they are neither counted nor stored.
extension StreamManagement {
    /// `<a h='...'/>`. Every stanza in the count must be stored in a way that survives a power failure.
    public static func acknowledgement(_ handled: HandledCount) -> [UInt8] {
        Array("<a xmlns='\(Namespace.streamManagement)' h='\(handled)'/>".utf8)
    }

    /// `<r/>`.
    public static let request: [UInt8] = Array("<r xmlns='\(Namespace.streamManagement)'/>".utf8)

    /// `</stream:stream>`: ends the session, not only the connection (XEP-0198, 7).
    public static let end: [UInt8] = Array("</stream:stream>".utf8)

    /// `<resume/>`, sent in a step of its own or together with a login.
    static func resume(_ plan: SessionPlan.Resume) -> Element {
        Element(
            "resume", xmlns: Namespace.streamManagement, attributes: ["h": "\(plan.handled)", "previd": plan.id])
    }

    /// `<enable/>` for a session that can be resumed; `maximum` is the preferred time in seconds for which the server keeps
    /// the session of a lost connection.
    static func enable(maximum: Int?) -> Element {
        var attributes = ["resume": "true"]
        if let maximum { attributes["max"] = "\(maximum)" }
        return Element("enable", xmlns: Namespace.streamManagement, attributes: attributes)
    }
}
