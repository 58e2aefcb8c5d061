import CCurl
import Glibc
import KalijTransport

/// A transfer by libcurl.
final class CurlTransfer: Transfer {
    let request: TransferRequest
    let loop: any TransferLoop
    private let event: (TransferEvent) -> Void
    private var multi: CurlMulti?
    private var easy: CurlEasy?
    private var upload: SealedUpload?
    private var reader = HeadReader()
    private var head: ResponseHead?
    private var received: Int64 = 0
    private var isPaused = false
    private var isChangePlanned = false
    private var isCancelled = false
    private var end: TransferEnd?
    private var speed: SpeedWatch
    private var speedTimer: Timer?
    private var sendBuffer: Int?
    private var isOwnHost = false
    private var refused: String?

    init(
        loop: any TransferLoop, request: TransferRequest, body: (any UploadBody)?,
        event: @escaping (TransferEvent) -> Void
    ) {
        self.loop = loop
        self.request = request
        self.event = event
        upload = body.map(SealedUpload.init)
        speed = SpeedWatch(request.limits)
        sendBuffer = request.limits.sendBuffer
    }

    /// Nothing more is wanted of libcurl.
    private var isOver: Bool { isCancelled || end != nil }

    /// - Throws: ``TransferFailure`` if the transfer cannot begin; nothing has been sent.
    func begin(in multi: CurlMulti, addresses: [String]) throws(TransferFailure) {
        guard !isOver else { return }
        let length = upload?.length
        guard (length != nil) == (request.method == .put), length ?? 1 > 0 else {
            throw TransferFailure(.invalidRequest, "a PUT has a body, of 1 byte at least, and no other method has")
        }
        let url = try TransferURL(request.url)
        isOwnHost = request.ownHosts.contains(url.host)
        let easy = try CurlEasy(curl: multi.curl)
        try easy.configure(for: request, url: url, length: length)
        try easy.setCallbacks(transfer: self, sockets: multi.waits)
        try easy.setAddresses(addresses)
        self.easy = easy
        self.multi = multi
        planSpeed()
        multi.add(self, easy.handle)
    }

    // MARK: The caller

    func pause() { setPaused(true) }
    func resume() { setPaused(false) }

    func releaseLastBlock() {
        guard !isOver, upload?.release() == true else { return }
        planChange()
    }

    func limitSendBuffer(to bytes: Int) {
        sendBuffer = bytes
        guard !isOver else { return }
        for socket in multi?.waits.sockets(of: self) ?? [] { applySendBuffer(to: socket) }
    }

    func cancel() {
        guard !isOver else { return }
        isCancelled = true
        giveUp()
        multi?.settle(self)
    }

    private func setPaused(_ paused: Bool) {
        guard !isOver, isPaused != paused else { return }
        isPaused = paused
        speed.reset()
        planChange()
    }

    /// Lets libcurl know in the loop's next turn: libcurl calls back at once, and the caller is not to get events within
    /// a call of its own.
    private func planChange() {
        guard multi != nil, !isChangePlanned else { return }
        isChangePlanned = true
        loop.enqueue { [self] in
            isChangePlanned = false
            guard !isOver, let multi, let easy else { return }
            multi.call { easy.pause(isPaused) }
        }
    }

    // MARK: Ends

    func fail(_ code: TransferFailure.Code, _ text: String) { fail(TransferFailure(code, text)) }

    private func fail(_ failure: TransferFailure) {
        var failure = failure
        failure.status = head?.status
        failure.sent = upload?.handed ?? 0
        failure.received = received
        settle(.failed(failure))
    }

    private func finish(_ head: ResponseHead, isClean: Bool) {
        let sent = upload?.handed ?? 0
        settle(.finished(status: head.status, sent: sent, received: received), isClean: isClean)
    }

    private func settle(_ end: TransferEnd, isClean: Bool = false) {
        guard !isOver else { return }
        self.end = end
        if isClean { keepEndOrderly() } else { giveUp() }
        multi?.settle(self)
    }

    /// The transfer never began.
    func refuse(_ failure: TransferFailure) {
        guard !isOver else { return }
        end = .failed(failure)
        tellEnd()
    }

    /// libcurl has come to an end by itself.
    func curlEnded(_ code: CURLcode) {
        if code == CURLE_OK {
            guard let head else { return fail(.protocolError, "a response without a head") }
            finish(head, isClean: true)
        } else if let refused, code == CURLE_COULDNT_CONNECT {
            fail(.refusedAddress, "the address \(refused) is not public")
        } else {
            fail(easy?.failure(code) ?? TransferFailure(.system, "error \(code.rawValue)"))
        }
    }

    func takeHandle() -> UnsafeMutableRawPointer? {
        speedTimer?.cancel()
        defer { multi = nil }
        return multi == nil ? nil : easy?.handle
    }

    func tellEnd() {
        // The memory that libcurl writes into goes after the handle.
        easy = nil
        upload = nil
        guard let end, !isCancelled else { return }
        event(.ended(end))
    }

    private func giveUp() {
        for socket in multi?.waits.sockets(of: self) ?? [] { kalij_reset(socket) }
    }

    private func keepEndOrderly() {
        for socket in multi?.waits.sockets(of: self) ?? [] { kalij_set_reset_at_end(socket, 0) }
    }

    // MARK: Speed

    private func planSpeed() {
        speedTimer = loop.schedule(after: speed.interval) { [weak self] in self?.checkSpeed() }
    }

    private func checkSpeed() {
        guard !isOver, let easy, let multi else { return }
        if isPaused || upload?.isHeld == true || !easy.isConnected { speed.reset() }
        // Bytes in the system's buffer have not moved.
        let waiting = multi.waits.sockets(of: self).reduce(0) { $0 + Int64(kalij_unacknowledged($1)) }
        if speed.isTooSlow(bytes: (upload?.handed ?? 0) - waiting + received, now: loop.now) {
            return fail(.tooSlow, "under \(request.limits.lowSpeed) bytes a second")
        }
        planSpeed()
    }

    // MARK: libcurl's callbacks

    /// Opens a socket unless the address is refused.
    func openSocket(_ address: UnsafePointer<curl_sockaddr>) -> Int32? {
        guard !isOver else { return nil }
        let count = min(Int(address.pointee.addrlen), MemoryLayout<sockaddr_in6>.size)
        let bytes = UnsafeRawPointer(address).advanced(by: Self.offsetOfAddress)
        let number = AddressRule.bytes(of: UnsafeRawBufferPointer(start: bytes, count: count)) ?? []
        guard isOwnHost && !number.isEmpty || AddressRule.isPublic(number) else {
            refused = refused ?? AddressRule.text(of: number)
            return nil
        }
        let socket = kalij_open_socket(address)
        guard socket >= 0 else { return nil }
        multi?.waits.opened(socket, by: self)
        applySendBuffer(to: socket)
        // A process that is killed gives a PUT up like a process that cancels.
        if request.method == .put { kalij_set_reset_at_end(socket, 1) }
        return socket
    }

    private static let offsetOfAddress = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0

    private func applySendBuffer(to socket: Int32) {
        if let sendBuffer { kalij_set_send_buffer(socket, Int32(clamping: sendBuffer)) }
    }

    /// Gives libcurl the next bytes of the body.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> SealedUpload.Portion {
        guard !isOver, let upload else { return .failed("") }
        if isPaused { return .held }
        if upload.isAtSeal {
            upload.seal()
            event(.progress(upload.handed))
            if !isOver { event(.seal) }
            if isOver { return .failed("") }
        }
        let portion = upload.read(into: buffer)
        switch portion {
        case .bytes:
            if upload.isProgressDue(now: loop.now) { event(.progress(upload.handed)) }
            if isOver { return .failed("") }
        case .failed(let reason): fail(.source, reason)
        case .held: break
        }
        return portion
    }

    /// Takes a line of a head.
    /// - Returns: whether to go on.
    func takeLine(_ line: UnsafeRawBufferPointer) -> Bool {
        guard !isOver else { return false }
        // Trailers after the body do not count.
        guard head == nil else { return true }
        do throws(TransferFailure) {
            if let found = try reader.take(line) { try take(found) }
        } catch {
            fail(error)
        }
        return !isOver
    }

    private func take(_ found: HeadReader.Head) throws(TransferFailure) {
        let head = ResponseHead(
            status: found.status, fields: found.fields, contentLength: found.contentLength,
            retryAfter: found.fields.contains { $0.name == "retry-after" } ? easy?.retryAfter : nil)
        self.head = head
        let isSuccess = (200..<300).contains(head.status)
        if request.method == .put, isSuccess, upload?.isComplete != true {
            throw TransferFailure(.protocolError, "the server says done before the last byte")
        }
        let isBody = request.method == .get && [200, 206].contains(head.status)
        if isBody { try checkBody(head) }
        event(.head(head))
        if isBody { return }
        // Nothing of the rest counts, and a server that refuses may close while we write.
        finish(head, isClean: isSuccess || request.method == .head)
    }

    private func checkBody(_ head: ResponseHead) throws(TransferFailure) {
        let coding = head["content-encoding"]?.lowercased() ?? "identity"
        guard coding == "identity" else { throw TransferFailure(.protocolError, "the body is compressed") }
        guard head.status == 200 || request.offset != nil else {
            throw TransferFailure(.protocolError, "a part of the file, though nobody asked for a part")
        }
    }

    /// Takes bytes of a response's body.
    func take(_ bytes: UnsafeRawBufferPointer) -> BodyTaking {
        guard !isOver else { return .stop }
        if isPaused { return .wait }
        received += Int64(bytes.count)
        event(.bytes(bytes))
        return isOver ? .stop : .goOn
    }

    enum BodyTaking {
        case goOn, wait, stop
    }
}
