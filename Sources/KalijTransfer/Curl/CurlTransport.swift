import KalijTransport

/// Moves files with libcurl, which is loaded when the first transfer begins.
///
/// Each transfer has a connection of its own: none is kept, so no transfer gets an address judged for another, or the rest of a
/// connection that was given up. Redirects, cookies, proxies and passwords of the user's files are not used. A transport cancels
/// its transfers when it is freed.
public final class CurlTransport: FileTransport {
    private let loop: any TransferLoop
    /// Those that have begun.
    private var transfers: [Started] = []
    private let addresses: [String]

    public convenience init(loop: any TransferLoop) {
        self.init(loop: loop, addresses: [])
    }

    /// - Parameter addresses: for tests: `host:port:address,address`, instead of a DNS query.
    init(loop: any TransferLoop, addresses: [String]) {
        self.loop = loop
        self.addresses = addresses
    }

    private struct Started {
        weak var transfer: CurlTransfer?
    }

    deinit {
        for started in transfers { started.transfer?.cancel() }
    }

    /// Whether a transfer of this process has loaded libcurl.
    public static var isLoaded: Bool { CurlLibrary.isLoaded }

    public func start(
        _ request: TransferRequest, body: (any UploadBody)?, _ event: @escaping (TransferEvent) -> Void
    ) -> any Transfer {
        let transfer = CurlTransfer(loop: loop, request: request, body: body, event: event)
        loop.enqueue { [weak self] in self?.begin(transfer) }
        return transfer
    }

    private func begin(_ transfer: CurlTransfer) {
        do throws(TransferFailure) {
            transfers.removeAll { $0.transfer == nil }
            try transfer.begin(in: CurlMulti(loop: loop), addresses: addresses)
            transfers.append(Started(transfer: transfer))
        } catch {
            transfer.refuse(error)
        }
    }
}
