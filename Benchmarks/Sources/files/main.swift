import Glibc
import KalijTransfer
import KalijTransport

/// Sends or fetches a file, as the command `curl` would.
///
///     files put URL CA FILE
///     files get URL CA FILE

/// A file read from its begin.
final class FileBody: UploadBody {
    struct Unreadable: Error {}

    let length: Int64
    private let descriptor: Int32

    init?(path: String) {
        descriptor = open(path, O_RDONLY)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { return nil }
        length = Int64(status.st_size)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        if count < 0 { throw Unreadable() }
        return count
    }
}

func stop(_ text: String) -> Never {
    print(text)
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count == 5, let loop = try? EventLoop() else { stop("usage: files put|get URL CA FILE") }
let isPut = arguments[1] == "put"
let request = TransferRequest(
    isPut ? .put : .get, url: arguments[2], caFile: arguments[3], ownHosts: ["localhost"], ownAddress: "127.0.0.1")
let body = isPut ? FileBody(path: arguments[4]) : nil
let output = isPut ? -1 : open(arguments[4], O_WRONLY | O_CREAT | O_TRUNC, 0o600)
let transport = CurlTransport(loop: loop)
var transfer: (any Transfer)?
transfer = transport.start(request, body: body) { event in
    switch event {
    case .seal: transfer?.releaseLastBlock()
    case .bytes(let bytes): if write(output, bytes.baseAddress, bytes.count) != bytes.count { stop("cannot write") }
    case .ended(.finished(let status, let sent, let received)):
        print(status, sent, received)
        loop.stop()
    case .ended(.failed(let failure)): stop("\(failure.code): \(failure)")
    case .progress, .head: break
    }
}
loop.run()
