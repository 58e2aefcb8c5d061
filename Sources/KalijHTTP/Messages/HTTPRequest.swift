/// A header field. Names are lower case in HTTP/2 (RFC 9113, 8.2).
public struct HTTPField: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request without scheme and authority; the client adds its own.
public struct HTTPRequest: Sendable, Equatable {
    public var method: String
    /// With the query, beginning with a slash.
    public var path: String
    public var fields: [HTTPField]
    public var body: [UInt8]

    public init(method: String = "POST", path: String, fields: [HTTPField] = [], body: [UInt8] = []) {
        self.method = method
        self.path = path
        self.fields = fields
        self.body = body
    }
}

/// A whole response.
public struct HTTPResponse: Sendable, Equatable {
    public var status: Int
    public var fields: [HTTPField]
    public var body: [UInt8]

    public init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The value of the first field with a lower-case name.
    public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
}
