import KalijText

/// The head of a final response.
public struct ResponseHead: Sendable, Equatable {
    /// Three digits, 200 and up.
    public let status: Int
    /// In the order of arrival, names in lower case. 64 KiB at most.
    public let fields: [HeaderField]
    /// The length of the body in bytes, as announced; nil if the end of the connection or a chunk of length 0 ends the
    /// body. For the answer to a HEAD: of the body that a GET would get.
    public let contentLength: Int64?
    /// Seconds to wait before the next request (RFC 9110, 10.2.3); a date counts from this machine's clock.
    public let retryAfter: Int64?

    public init(status: Int, fields: [HeaderField], contentLength: Int64?, retryAfter: Int64? = nil) {
        self.status = status
        self.fields = fields
        self.contentLength = contentLength
        self.retryAfter = retryAfter
    }

    /// The value of the first field with a lower-case name.
    public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    public var etag: String? { self["etag"] }
    public var lastModified: String? { self["last-modified"] }
    /// Where a redirect leads, maybe a relative reference.
    public var location: String? { self["location"] }
    /// The range of a 206; nil if missing or malformed.
    public var contentRange: ContentRange? { self["content-range"].flatMap(ContentRange.init) }

    /// For `If-Range`: a strong entity tag, or else the date of the last change; weak tags do not compare there (RFC
    /// 9110, 13.1.5).
    public var validator: String? {
        if let etag, etag.begins(with: "\"") { return etag }
        return lastModified
    }
}

/// The bytes of a partial response (RFC 9110, 14.4): `bytes 100-199/200`.
public struct ContentRange: Sendable, Equatable {
    /// Counted from 0, inclusive.
    public let first: Int64
    /// Inclusive; not before ``first``. Prosody 0.12 gives a number too high by one.
    public let last: Int64
    /// The length of the whole; nil for `*`.
    public let total: Int64?

    /// Takes the value of the field; nil for another unit, an unsatisfied range or malformed text.
    public init?(_ text: String) {
        let words = text.parts(at: " ", most: 2)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].parts(at: "/")
        guard parts.count == 2 else { return nil }
        let ends = parts[0].parts(at: "-")
        guard ends.count == 2, let first = decimal(ends[0]), let last = decimal(ends[1]), first <= last else {
            return nil
        }
        let total = parts[1] == "*" ? nil : decimal(parts[1])
        guard total != nil || parts[1] == "*" else { return nil }
        self.first = first
        self.last = last
        self.total = total
    }
}

/// A number of decimal digits alone, without a sign; nil if larger than Int64 or anything else.
func decimal(_ text: some StringProtocol) -> Int64? {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(text) : nil
}
