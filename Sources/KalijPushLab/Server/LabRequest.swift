/// A request to a stand-in.
public struct LabRequest: Sendable {
    public var method = ""
    public var path = ""
    public var fields: [String: String] = [:]
    public var body: [UInt8] = []
    /// The number of the connection, counted from 1.
    public var connection = 0
    /// The subject's common name in the client's certificate, if there is one.
    public var clientName: String?
}

/// The reaction of a stand-in to a request.
public enum LabReply: Sendable {
    /// A response.
    case respond(status: Int, fields: [(String, String)] = [], body: String = "")
    /// The response follows after some seconds.
    indirect case later(Double, LabReply)
    /// RST_STREAM with a code of RFC 9113, 7.
    case reset(code: UInt32)
    /// No answer, ever.
    case silence
    /// GOAWAY with this request as the last answered request (`true`), or with the request before (`false`).
    indirect case goAway(including: Bool, reason: String = "", then: LabReply)
    /// A new SETTINGS_MAX_CONCURRENT_STREAMS, and then another reply.
    indirect case limit(streams: UInt32, then: LabReply)
    /// The connection is cut off.
    case hangUp
}

/// What a stand-in's connections begin with.
public enum LabOpening: Sendable {
    /// SETTINGS.
    case usual
    /// GOAWAY before any request.
    case goAway
    /// A frame that breaks HTTP/2: the first one, or the first after SETTINGS.
    case broken(hasSettings: Bool)
}
