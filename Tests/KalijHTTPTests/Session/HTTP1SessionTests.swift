import Testing

@testable import KalijHTTP

@Suite("HTTP/1.1")
struct HTTP1SessionTests {
    private func feed(_ session: HTTP1Session, _ text: String, by count: Int = .max) throws {
        let bytes = Array(text.utf8)
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(count))
            try part.withUnsafeBytes { try session.receive($0) }
            rest = rest.dropFirst(count)
        }
    }

    private func outcome(_ session: HTTP1Session) -> HTTPOutcome? {
        for event in session.drainEvents() {
            if case .ended(_, let outcome) = event { return outcome }
        }
        return nil
    }

    private func begun(_ limits: HTTPLimits = HTTPLimits()) throws -> HTTP1Session {
        let session = HTTP1Session(limits: limits)
        let request = HTTPRequest(path: "/p", fields: [HTTPField("ttl", "60")], body: [1, 2])
        #expect(session.submit(request, authority: "a.example") == 1)
        #expect(session.capacity == 0)
        let head = "POST /p HTTP/1.1\r\nhost: a.example\r\nttl: 60\r\ncontent-length: 2\r\n\r\n"
        #expect(try session.drainOutput() == Array(head.utf8) + [1, 2])
        return session
    }

    @Test("responses in every framing, however the bytes come", arguments: [1, 2, 7, Int.max])
    func responses(portion: Int) throws {
        let session = try begun()
        try feed(
            session, "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nLocation: /m/1\r\n", by: portion)
        #expect(outcome(session) == nil)
        try feed(session, "Content-Length: 5\r\n\r\nhello", by: portion)
        let first = try #require(outcome(session)).get()
        #expect(
            first
                == HTTPResponse(
                    status: 201, fields: [HTTPField("location", "/m/1"), HTTPField("content-length", "5")],
                    body: Array("hello".utf8)))
        #expect(session.capacity == 1)
        #expect(session.submit(HTTPRequest(path: "/q"), authority: "a.example") == 2)
        try feed(
            session, "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            by: portion)
        let second = try #require(outcome(session)).get()
        #expect(second.retryAfter(now: 0) == 7)
        #expect(second.body == Array("abc".utf8))
        #expect(session.submit(HTTPRequest(path: "/r"), authority: "a.example") == 3)
        try feed(session, "HTTP/1.1 204 None\r\nConnection: close\r\n\r\n", by: portion)
        #expect(try #require(outcome(session)).get().status == 204)
        #expect(session.isOver)
        #expect(session.submit(HTTPRequest(path: "/s"), authority: "a.example") == nil)
    }

    @Test("a body without a length ends with the connection; a cut one is no answer")
    func end() throws {
        let whole = try begun()
        try feed(whole, "HTTP/1.0 200 OK\r\n\r\nhello")
        #expect(outcome(whole) == nil)
        whole.finish()
        #expect(try #require(outcome(whole)).get().body == Array("hello".utf8))
        let cut = try begun()
        try feed(cut, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")
        cut.finish()
        #expect(outcome(cut) == nil)
        let idle = HTTP1Session(limits: HTTPLimits())
        idle.finish()
        #expect(idle.isOver)
    }

    @Test(
        "more than the limits allow ends the connection",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n" + String(repeating: "a", count: 101),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n" + String(repeating: "a", count: 101),
            "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 100),
            "HTTP/1.1 200 OK\r\na: " + String(repeating: "b", count: 400),
        ])
    func limits(_ text: String) throws {
        var limits = HTTPLimits()
        (limits.bodyBytes, limits.fieldBytes) = (100, 300)
        for portion in [1, Int.max] {
            let session = try begun(limits)
            do {
                try feed(session, text, by: portion)
            } catch let failure as HTTPFailure {
                // Bytes behind the end of the connection.
                #expect(failure.code == .connectionLost)
            }
            guard case .failure(let failure)? = outcome(session) else {
                Issue.record("no failure")
                continue
            }
            #expect(failure.code == .tooLarge)
            #expect(session.isOver)
        }
    }

    @Test(
        "bytes that are not HTTP/1.1",
        arguments: [
            "\u{0}\u{0}\u{6}", "HTTP/2.0\r\n\r\n", "SSH-2.0-OpenSSH\r\n", "HTTP/1.1 abc\r\n\r\n",
            "HTTP/1.1 99999 X\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nrest",
        ])
    func broken(_ text: String) throws {
        let session = try begun()
        #expect(throws: HTTPFailure(.connectionLost, "")) { try feed(session, text) }
    }

    @Test("an answer without a request, and two answers to one")
    func unasked() throws {
        let session = HTTP1Session(limits: HTTPLimits())
        #expect(throws: HTTPFailure(.connectionLost, "")) {
            try feed(session, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        let other = try begun()
        try feed(other, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(throws: HTTPFailure(.connectionLost, "")) {
            try feed(other, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
    }

    @Test("two answers at once to one request")
    func both() throws {
        let session = try begun()
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        #expect(throws: HTTPFailure(.connectionLost, "")) { try feed(session, answer + answer) }
    }

    @Test("cancelling a request ends the connection")
    func cancel() throws {
        let session = try begun()
        session.cancel(1)
        #expect(session.isOver)
        #expect(session.capacity == 0)
    }

    @Test(
        "no byte of a request begins another field",
        arguments: [
            HTTPRequest(path: "/a b"), HTTPRequest(path: "/a\r\nx: y"), HTTPRequest(path: ""), HTTPRequest(path: "/ä"),
            HTTPRequest(path: "/a", fields: [HTTPField("a", "b\r\nc: d")]),
            HTTPRequest(path: "/a", fields: [HTTPField("a\n", "b")]), HTTPRequest(method: "GE T", path: "/a"),
        ])
    func injection(_ request: HTTPRequest) {
        #expect(HTTP1Session(limits: HTTPLimits()).submit(request, authority: "a.example") == nil)
    }
}
