import Testing

@testable import KalijTransfer

@Suite("Heads of responses")
struct HeadTests {
    private func read(_ lines: [String]) throws -> ResponseHeadParser.Head? {
        var reader = ResponseHeadParser()
        for line in lines {
            let head = try Array((line + "\r\n").utf8).withUnsafeBytes { try reader.parse($0) }
            if let head { return head }
        }
        return nil
    }

    @Test("Names in lower case, values without blanks at their ends, continued lines joined; heads of 1xx left out")
    func good() throws {
        let head = try #require(
            try read([
                "HTTP/1.1 100 Continue", "X: y", "", "HTTP/1.1 200 OK", "ETag:\t\"a:b\" ", "Long: one", "  two",
                "Content-Length: 7", "content-length: 7, 7", "",
            ]))
        #expect(head.status == 200)
        #expect(head.contentLength == 7)
        #expect(head.fields.prefix(2) == [HeaderField("etag", "\"a:b\""), HeaderField("long", "one two")])
    }

    @Test("With a transfer encoding the length does not count")
    func chunked() throws {
        let head = try read(["HTTP/1.1 200", "Content-Length: 7", "Transfer-Encoding: Chunked", ""])
        #expect(
            head
                == ResponseHeadParser.Head(
                    status: 200,
                    fields: [HeaderField("content-length", "7"), HeaderField("transfer-encoding", "Chunked")],
                    contentLength: nil))
    }

    @Test(
        "Heads that contradict themselves or make no sense are errors",
        arguments: [
            ["HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 6", ""],
            ["HTTP/1.1 200 OK", "Content-Length: 5, 6", ""], ["HTTP/1.1 200 OK", "Content-Length: -5", ""],
            ["HTTP/1.1 200 OK", "Content-Length: 99999999999999999999", ""],
            ["HTTP/1.1 200 OK", "Content-Length:", ""],
            ["HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked", ""], ["HTTP/1.1 99 OK", ""],
            ["HTTP/1.1 2000 OK", ""], ["HTTP/1.1 +20 OK", ""], ["HTTP/1.1", ""], [""],
            ["HTTP/1.1 200 OK"] + [String](repeating: "X: " + String(repeating: "y", count: 1000), count: 66),
            [String](repeating: "HTTP/1.1 100 Continue", count: 3000) + [""],
        ])
    func bad(_ lines: [String]) {
        #expect(throws: TransferFailure(.protocolError, "")) { try read(lines) }
    }

    @Test("Ranges of a partial response (RFC 9110, 14.4)")
    func ranges() throws {
        let range = try #require(ContentRange("bytes 100-199/200"))
        #expect(range.first == 100 && range.last == 199 && range.total == 200)
        #expect(ContentRange("bytes 0-0/*")?.total == nil && ContentRange("bytes 0-0/*") != nil)
        for text in [
            "", "bytes", "bytes */200", "items 0-1/2", "bytes 2-1/3", "bytes -1/3", "bytes 0-1", "bytes 0-1/x",
            "bytes +0-1/2", "bytes 0-1/2/3", "bytes 0-99999999999999999999/2",
        ] {
            #expect(ContentRange(text) == nil, "\(text)")
        }
    }

    @Test("Only a strong tag or a date compares in If-Range (RFC 9110, 13.1.5)")
    func validators() {
        func head(_ fields: [HeaderField]) -> ResponseHead {
            ResponseHead(status: 200, fields: fields, contentLength: 1)
        }
        let date = HeaderField("last-modified", "Tue, 24 Nov 2026 08:00:00 GMT")
        #expect(head([HeaderField("etag", "\"x\""), date]).validator == "\"x\"")
        #expect(head([HeaderField("etag", "W/\"x\""), date]).validator == date.value)
        #expect(head([HeaderField("etag", "W/\"x\"")]).validator == nil)
    }

    @Test("Fields of a request that could be read as another field are refused")
    func fields() {
        for field in [
            HeaderField("", "x"), HeaderField("a b", "x"), HeaderField("a:", "x"), HeaderField("a\r\nb", "x"),
            HeaderField("ä", "x"), HeaderField("Host", "x"), HeaderField("content-length", "1"),
            HeaderField("Transfer-Encoding", "chunked"), HeaderField("Expect", "100-continue"),
            HeaderField("Cookie", "a\r\nB: c"), HeaderField("Cookie", "a\nb"), HeaderField("Cookie", "a\u{0}b"),
        ] {
            #expect(throws: TransferFailure(.invalidRequest, ""), "\(field)") { try HeaderValidation.check([field]) }
        }
        #expect(throws: Never.self) {
            try HeaderValidation.check([
                HeaderField("Authorization", "Bearer x=="), HeaderField("Expires", ""), HeaderField("X_1", "ä\t"),
            ])
        }
    }
}
