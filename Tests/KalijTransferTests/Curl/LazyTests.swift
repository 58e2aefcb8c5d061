import Foundation
import KalijTransport
import Testing

@testable import KalijTransfer

@Suite("Loading libcurl")
struct LazyTests {
    @Test("A process has no libcurl before its first transfer")
    func lazy() async {
        await #expect(processExitsWith: .success) {
            func isMapped() -> Bool { dlopen("libcurl.so.4", RTLD_NOW | RTLD_NOLOAD) != nil }
            let loop = try EventLoop()
            let transport = CurlTransport(loop: loop)
            let before = isMapped()
            try #require(!before && !CurlTransport.isLoaded)
            var ends = 0
            let request = TransferRequest(.get, url: "https://127.0.0.1:1/")
            _ = transport.start(request, body: nil) { event in
                if case .ended = event { ends += 1 }
                loop.stop()
            }
            let started = isMapped()
            try #require(!started)
            loop.schedule(after: 10) { loop.stop() }
            loop.run()
            try #require(ends == 1 && CurlTransport.isLoaded)
            let after = isMapped()
            try #require(after)
        }
    }
}
