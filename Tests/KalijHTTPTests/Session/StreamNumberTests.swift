import Testing

@testable import KalijHTTP

@Suite("The numbers of streams")
struct StreamNumberTests {
    @Test("RFC 9113, 5.1.1: stream identifiers cannot be reused; without any left the connection is of no more use")
    func exhausted() throws {
        let session = HTTP2Session(limits: HTTPLimits(), firstStream: Int32.max - 2)
        // An empty SETTINGS frame.
        try [0, 0, 0, 4, 0, 0, 0, 0, 0].map(UInt8.init).withUnsafeBytes { try session.receive($0) }
        let request = HTTPRequest(path: "/")
        #expect(session.capacity > 0)
        #expect(session.submit(request, authority: "localhost") == Int32.max - 2)
        #expect(session.submit(request, authority: "localhost") == Int32.max)
        #expect(session.capacity == 0)
        #expect(session.isGoingAway)
    }
}
