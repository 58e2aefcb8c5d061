/// The rules for fields of a request (RFC 9110, 5.1 and 5.5): what breaks them could be read as another field.
enum HeaderValidation {
    /// Made by the transport.
    private static let ours: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "expect", "te", "trailer", "upgrade",
        "accept-encoding", "range", "if-range",
    ]
    private static let marks = Set("!#$%&'*+-.^_`|~".utf8)

    /// - Throws: ``TransferFailure`` (`invalidRequest`).
    static func check(_ fields: [HeaderField]) throws(TransferFailure) {
        for field in fields {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(isToken), !ours.contains(field.name.lowercased())
            else {
                throw TransferFailure(.invalidRequest, "a field of the request has an impossible name")
            }
            try check(value: field.value)
        }
    }

    /// - Throws: ``TransferFailure`` (`invalidRequest`).
    static func check(value: String) throws(TransferFailure) {
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw TransferFailure(.invalidRequest, "a field of the request has a control character")
        }
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        marks.contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
