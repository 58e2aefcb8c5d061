import CHTTPParser

/// The client's side of an HTTP/1.1 connection (RFC 9112): a request at a time, without pipelining.
///
/// http_parser reads the responses; this type decides the outcome of each request.
final class HTTP1Session: HTTPSession {
    private let limits: HTTPLimits
    // Owned: freed in deinit. http_parser calls back only from within the session's own calls.
    private let parser: UnsafeMutablePointer<http_parser>
    private var output: [UInt8] = []
    private var events: [HTTPSessionEvent] = []
    /// The number of the latest request.
    private var last: Int32 = 0
    private var isOpen = false
    private var isEnding = false

    /// The part read so far.
    private var response: HTTP1Response

    init(limits: HTTPLimits) {
        response = HTTP1Response(limits: limits)
        self.limits = limits
        parser = .allocate(capacity: 1)
        parser.initialize(to: http_parser())
        http_parser_init(parser, HTTP_RESPONSE)
        // lives: the parser is freed in the session's deinit
        parser.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit { parser.deallocate() }

    let hasSettings = true
    let canPing = false
    /// Numbers of requests have 31 bits, as HTTP/2's.
    var isGoingAway: Bool { isEnding || last == .max }
    var capacity: Int { isOpen || isGoingAway ? 0 : 1 }
    var isOver: Bool { isGoingAway && !isOpen }

    func submit(_ request: HTTPRequest, authority: String) -> Int32? {
        guard capacity > 0, Self.isSafe(request, authority) else { return nil }
        var head = "\(request.method) \(request.path) HTTP/1.1\r\nhost: \(authority)\r\n"
        for field in request.fields { head += "\(field.name): \(field.value)\r\n" }
        head += "content-length: \(request.body.count)\r\n\r\n"
        output += Array(head.utf8) + request.body
        last += 1
        isOpen = true
        return last
    }

    /// No byte may begin another field or another request.
    private static func isSafe(_ request: HTTPRequest, _ authority: String) -> Bool {
        func isText(_ text: String, blanks: Bool) -> Bool {
            text.utf8.allSatisfy { ($0 > 0x20 || $0 == 0x20 && blanks) && $0 < 0x7f }
        }
        return [request.method, request.path, authority].allSatisfy { isText($0, blanks: false) && !$0.isEmpty }
            && request.fields.allSatisfy { isText($0.name, blanks: false) && isText($0.value, blanks: true) }
    }

    /// The answer to a request that was given up would look like the answer to the next.
    func cancel(_ stream: Int32) {
        guard isOpen, stream == last else { return }
        isOpen = false
        isEnding = true
    }

    func ping() {}
    func terminate() { isEnding = true }

    func drainEvents() -> [HTTPSessionEvent] {
        defer { events = [] }
        return events
    }

    func drainOutput() throws(HTTPFailure) -> [UInt8] {
        defer { output = [] }
        return output
    }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTPFailure) {
        guard !bytes.isEmpty else { return }
        guard isOpen else { throw HTTPFailure(.connectionLost, "the server answers without a request") }
        // The lent bytes are read within the call.
        let read = Self.execute(parser, bytes)
        if response.isTooLarge {
            return answer(.failure(HTTPFailure(.tooLarge, "the response is too large")), isLast: true)
        }
        guard read == bytes.count, kalij_http_error(parser) == 0, kalij_http_upgrades(parser) == 0 else {
            throw HTTPFailure(.connectionLost, "the server's bytes are not HTTP/1.1")
        }
    }

    func finish() {
        guard isOpen else {
            isEnding = true
            return
        }
        _ = Self.execute(parser, UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private static func execute(_ parser: UnsafeMutablePointer<http_parser>, _ bytes: UnsafeRawBufferPointer) -> Int {
        var settings = Self.settings
        return http_parser_execute(parser, &settings, bytes.bindMemory(to: CChar.self).baseAddress, bytes.count)
    }

    // MARK: http_parser's callbacks

    private static let settings: http_parser_settings = {
        var settings = http_parser_settings()
        http_parser_settings_init(&settings)
        // A response without a request is an error.
        settings.on_message_begin = { HTTP1Session.of($0)?.isOpen == true ? 0 : 1 }
        settings.on_header_field = { parser, start, count in
            HTTP1Session.of(parser).flatMap { $0.response.addName(HTTP1Session.text(start, count)) } ?? 0
        }
        settings.on_header_value = { parser, start, count in
            HTTP1Session.of(parser).flatMap { $0.response.addValue(HTTP1Session.text(start, count)) } ?? 0
        }
        settings.on_body = { parser, start, count in
            guard let start, let session = HTTP1Session.of(parser) else { return 0 }
            return session.response.addBody(UnsafeRawBufferPointer(start: start, count: count))
        }
        settings.on_message_complete = { parser in
            if let parser { HTTP1Session.of(parser)?.complete(parser) }
            return 0
        }
        return settings
    }()

    // The pointer was given to the parser in the session's init, and the parser calls only while the session lives.
    private static func of(_ parser: UnsafeMutablePointer<http_parser>?) -> HTTP1Session? {
        parser?.pointee.data.map { Unmanaged<HTTP1Session>.fromOpaque($0).takeUnretainedValue() }
    }

    // Lent by the parser for the length of the callback.
    private static func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self)
    }

    private func complete(_ parser: UnsafeMutablePointer<http_parser>) {
        let status = kalij_http_status(parser)
        // Informational responses precede the final response.
        if (100..<200).contains(status) {
            response = HTTP1Response(limits: limits)
        } else {
            let whole = HTTPResponse(status: Int(status), fields: response.fields, body: response.body)
            answer(.success(whole), isLast: http_should_keep_alive(parser) == 0)
        }
    }

    private func answer(_ outcome: HTTPOutcome, isLast: Bool) {
        if isOpen { events.append(.ended(stream: last, outcome)) }
        isOpen = false
        isEnding = isEnding || isLast
        response = HTTP1Response(limits: limits)
    }
}
