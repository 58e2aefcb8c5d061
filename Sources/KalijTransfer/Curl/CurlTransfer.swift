import CCurl
import KalijText
import KalijTransport

/// A transfer by libcurl.
final class CurlTransfer: Transfer {
    let exchange: Exchange
    private let loop: any TransferLoop
    private let speed: StallDetector
    private var multi: CurlMulti?
    private var easy: CurlEasy?
    private var sockets: TransferSockets?
    private var sendBuffer: Int?
    private var isResumePlanned = false

    init(
        loop: any TransferLoop, request: TransferRequest, body: (any UploadBody)?,
        event: @escaping (TransferEvent) -> Void
    ) {
        self.loop = loop
        exchange = Exchange(request: request, body: body, now: { loop.now }, event: event)
        speed = StallDetector(loop: loop, limits: request.limits)
        sendBuffer = request.limits.sendBuffer
    }

    /// - Throws: ``TransferFailure`` if the transfer cannot begin; nothing has been sent.
    func begin(in multi: CurlMulti, addresses: [String]) throws(TransferFailure) {
        guard !exchange.isOver else { return }
        try exchange.check()
        let request = exchange.request
        let url = try TransferURL(request.url)
        let isOwn = request.ownHosts.contains { $0.exact == url.host.exact }
        sockets = TransferSockets(
            waits: multi.waits, server: isOwn ? AddressRule.bytes(of: request.ownAddress ?? "") : [],
            isPut: request.method == .put, sendBuffer: sendBuffer)
        let easy = try CurlEasy(curl: multi.curl)
        try easy.configure(for: request, url: url, length: exchange.upload?.length)
        try easy.setCallbacks(transfer: self, sockets: multi.waits)
        try easy.setAddresses(addresses)
        self.easy = easy
        self.multi = multi
        exchange.settled = { [weak self] isOrderly in self?.settled(isOrderly: isOrderly) }
        watchSpeed()
        multi.add(self, easy.handle)
    }

    // MARK: The caller

    func pause() { setPaused(true) }
    func resume() { setPaused(false) }

    func releaseLastBlock() {
        guard !exchange.isOver, exchange.upload?.release() == true else { return }
        planResume()
    }

    func limitSendBuffer(to bytes: Int) {
        sendBuffer = bytes
        sockets?.limitSendBuffer(to: bytes)
    }

    func cancel() { exchange.cancel() }

    var unacknowledged: Int64 { sockets?.unacknowledged ?? 0 }

    private func setPaused(_ paused: Bool) {
        guard exchange.isPaused != paused else { return }
        exchange.isPaused = paused
        if exchange.request.method == .put {
            if !paused { planResume() }
        } else if paused {
            // A connection that is being made continues, and pauses with the first line of the response.
            multi?.waits.isHeld = exchange.hasHead
        } else {
            multi?.waits.isHeld = false
        }
    }

    /// Resumes libcurl in the loop's next turn: libcurl calls back at once, and the caller must not get events within a call of its own.
    private func planResume() {
        guard multi != nil, !isResumePlanned else { return }
        isResumePlanned = true
        loop.enqueue { [self] in
            isResumePlanned = false
            guard !exchange.isOver, let multi, let easy else { return }
            multi.call { easy.resume() }
        }
    }

    // MARK: Ends

    /// The transfer never began.
    func refuse(_ failure: TransferFailure) {
        exchange.fail(failure)
        exchange.reportEnd()
    }

    /// libcurl has ended the transfer by itself.
    func curlEnded(_ code: CURLcode) {
        if code == CURLE_OK {
            exchange.finish(isOrderly: true)
        } else if let refused = sockets?.refused, code == CURLE_COULDNT_CONNECT {
            exchange.fail(TransferFailure(.refusedAddress, "the address \(refused) is not public"))
        } else {
            exchange.fail(easy?.failure(code) ?? TransferFailure(.system, "error \(code.rawValue)"))
        }
    }

    private func settled(isOrderly: Bool) {
        speed.cancel()
        if isOrderly { sockets?.keepEndOrderly() } else { sockets?.reset() }
        multi?.settle()
    }

    /// The handle, to be taken off the multi, which the transfer forgets.
    func detachHandle() -> UnsafeMutableRawPointer? {
        defer { multi = nil }
        return multi == nil ? nil : easy?.handle
    }

    /// After removal from the multi: frees the handle, and reports the end to the caller.
    func reportEnd() {
        easy = nil
        exchange.reportEnd()
    }

    private func watchSpeed() {
        speed.start { [weak self] in
            guard let self, !exchange.isPaused, exchange.upload?.isHeld != true, easy?.isConnected == true else {
                return nil
            }
            // Bytes in the system's buffer have not moved.
            return exchange.moved - unacknowledged
        } tooSlow: { [weak self] in
            guard let self else { return }
            let limit = exchange.request.limits.lowSpeed
            exchange.fail(TransferFailure(.tooSlow, "under \(limit) bytes a second"))
        }
    }

    // MARK: libcurl's callbacks

    func openSocket(_ address: UnsafePointer<curl_sockaddr>) -> Int32? {
        exchange.isOver ? nil : sockets?.open(address)
    }

    /// Called by libcurl from time to time, and always before a connection is closed.
    ///
    /// A server that refuses a PUT closes the connection during the upload. Its response has arrived before the reset, but
    /// libcurl, once writing has failed, does not read on.
    func turned() {
        guard exchange.request.method == .put, !exchange.isOver, easy?.isConnected == true, sockets?.isDead == true
        else {
            return
        }
        for line in easy?.readRest() ?? [] where line.withUnsafeBytes({ receiveLine($0) }) == false { return }
    }

    func receiveLine(_ line: UnsafeRawBufferPointer) -> Bool {
        defer { keepPaused() }
        return exchange.receiveLine(line) { easy?.retryAfter }
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        defer { keepPaused() }
        return exchange.receive(bytes)
    }

    /// What libcurl has read already arrives though the transfer is paused, and libcurl reads no more. libcurl's own pause is not
    /// used for reading: 7.88 delivers the lines of a head that arrives meanwhile as one, and sometimes ends the process.
    private func keepPaused() {
        if exchange.isPaused, !exchange.isOver, exchange.request.method != .put { multi?.waits.isHeld = true }
    }
}
