import Testing

@testable import KalijTransfer

@Suite("Progress of an upload")
struct ProgressTests {
    @Test("Only bytes that were written count, not those that libcurl holds; each number once, four times a second")
    func written() throws {
        var (now, reported) = (0.0, [Int64]())
        let request = TransferRequest(.put, url: "https://localhost/put")
        let exchange = Exchange(request: request, body: Bytes([UInt8](repeating: 1, count: 100_000)), now: { now }) {
            if case .progress(let count) = $0 { reported.append(count) }
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
        defer { buffer.deallocate() }
        guard case .bytes(65_536) = exchange.read(into: buffer) else { return #expect(Bool(false), "nothing to send") }
        exchange.written(0)
        #expect(reported.isEmpty)
        for (time, count) in [(1.0, 4_000), (1.1, 5_000), (2.0, 5_000), (3.0, 5_000)] {
            now = time
            exchange.written(Int64(count))
        }
        #expect(reported == [4_000, 5_000])
    }
}
