/// A response that is being received: its head, checked, and the number of bytes of its body.
struct Response {
    private let method: TransferRequest.Method
    private let isPart: Bool
    private var reader = ResponseHeadParser()
    private(set) var status: Int?
    private(set) var isHeadComplete = false
    var received: Int64 = 0

    init(to request: TransferRequest) {
        method = request.method
        isPart = request.offset != nil
    }

    /// Whether the body is to be read.
    var hasBody: Bool { method == .get && (status == 200 || status == 206) }
    var isSuccess: Bool { status.map { (200..<300).contains($0) } ?? false }

    /// Takes a line of the head; lines after the head are trailers, and do not count.
    /// - Parameter isSent: whether the whole body of a PUT has been handed over.
    /// - Returns: the head, with its last line.
    /// - Throws: ``TransferFailure`` (`protocolError`) for a head that is wrong, or the answer to something else.
    mutating func parse(
        _ line: UnsafeRawBufferPointer, isSent: Bool, retryAfter: () -> Int64?
    ) throws(TransferFailure) -> ResponseHead? {
        guard !isHeadComplete, let found = try reader.parse(line) else { return nil }
        isHeadComplete = true
        status = found.status
        if method == .put, isSuccess, !isSent {
            throw TransferFailure(.protocolError, "the server says done before the last byte")
        }
        let head = ResponseHead(
            status: found.status, fields: found.fields, contentLength: found.contentLength,
            retryAfter: found.fields.contains { $0.name == "retry-after" } ? retryAfter() : nil)
        if hasBody { try checkBody(of: head) }
        return head
    }

    private func checkBody(of head: ResponseHead) throws(TransferFailure) {
        let coding = head["content-encoding"]?.lowercased() ?? "identity"
        guard coding == "identity" else { throw TransferFailure(.protocolError, "the body is compressed") }
        guard head.status == 200 || isPart else {
            throw TransferFailure(.protocolError, "a part of the file, though nobody asked for a part")
        }
    }
}
