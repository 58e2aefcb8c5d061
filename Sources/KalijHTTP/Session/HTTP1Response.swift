/// The part of a response of HTTP/1.1 that was read so far. The functions that take parts return 1 to end the reading.
struct HTTP1Response {
    private let limits: HTTPLimits
    private(set) var fields: [HTTPField] = []
    private(set) var body: [UInt8] = []
    private(set) var isTooLarge = false
    private var fieldBytes = 0
    private var isInValue = false

    init(limits: HTTPLimits) { self.limits = limits }

    /// A name or a value may arrive in parts.
    mutating func addName(_ part: String) -> Int32 {
        if isInValue || fields.isEmpty { fields.append(HTTPField("", "")) }
        isInValue = false
        fields[fields.count - 1].name += part.lowercased()
        return count(part)
    }

    mutating func addValue(_ part: String) -> Int32 {
        isInValue = true
        if !fields.isEmpty { fields[fields.count - 1].value += part }
        return count(part)
    }

    private mutating func count(_ part: String) -> Int32 {
        fieldBytes += part.utf8.count + 16
        isTooLarge = fieldBytes > limits.fieldBytes
        return isTooLarge ? 1 : 0
    }

    mutating func addBody(_ part: UnsafeRawBufferPointer) -> Int32 {
        isTooLarge = part.count > limits.bodyBytes - body.count
        if !isTooLarge { body.append(contentsOf: part) }
        return isTooLarge ? 1 : 0
    }
}
