/// A request and its response, without any input and output: what to send next, what to make of what has arrived, and
/// the one end.
final class Exchange {
    let request: TransferRequest
    private(set) var upload: WithheldLastBlock?
    var isPaused = false
    /// Called once, with the end or when cancelled: the argument is whether the connection may end in order.
    var settled: ((Bool) -> Void)?
    private var response: Response
    private var isCancelled = false
    private var end: TransferEnd?
    private let now: () -> Double
    private let event: (TransferEvent) -> Void

    init(
        request: TransferRequest, body: (any UploadBody)?, now: @escaping () -> Double,
        event: @escaping (TransferEvent) -> Void
    ) {
        self.request = request
        self.now = now
        self.event = event
        upload = body.map(WithheldLastBlock.init)
        response = Response(to: request)
    }

    /// Nothing more is to be sent or taken.
    var isOver: Bool { isCancelled || end != nil }
    /// Whether the head of the response is complete.
    var hasHead: Bool { response.isHeadComplete }
    /// Bytes handed over and taken.
    var moved: Int64 { (upload?.handed ?? 0) + response.received }

    /// - Throws: ``TransferFailure`` (`invalidRequest`) if body and method do not fit.
    func check() throws(TransferFailure) {
        guard (upload != nil) == (request.method == .put), upload?.length ?? 1 > 0 else {
            throw TransferFailure(.invalidRequest, "a PUT has a body, of 1 byte at least, and no other method has")
        }
    }

    // MARK: Sending

    /// Gives the next bytes of the body.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> WithheldLastBlock.Portion {
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
        case .bytes, .held: break
        case .failed(let reason): fail(TransferFailure(.source, reason))
        }
        return portion
    }

    /// libcurl has written `count` bytes of the body to the connection; it holds those handed over since.
    func written(_ count: Int64) {
        guard !isOver, let upload, upload.isProgressDue(count, now: now()) else { return }
        event(.progress(count))
    }

    // MARK: Taking

    /// Takes a line of a head, with its ending.
    /// - Parameter retryAfter: seconds, queried if the head has the field.
    /// - Returns: whether to continue.
    func receiveLine(_ line: UnsafeRawBufferPointer, retryAfter: () -> Int64?) -> Bool {
        guard !isOver else { return false }
        do throws(TransferFailure) {
            let head = try response.parse(line, isSent: upload?.isComplete == true, retryAfter: retryAfter)
            guard let head else { return true }
            event(.head(head))
            // Nothing of the rest counts, and a server that refuses may close during the upload.
            if !response.hasBody { finish(isOrderly: response.isSuccess || request.method == .head) }
        } catch {
            fail(error)
        }
        return !isOver
    }

    /// Takes bytes of the response's body.
    /// - Returns: whether to continue.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard !isOver else { return false }
        response.received += Int64(bytes.count)
        event(.bytes(bytes))
        return !isOver
    }

    // MARK: Ends

    /// The response is complete.
    func finish(isOrderly: Bool) {
        guard let status = response.status else {
            return fail(TransferFailure(.cut, "the connection ended before the head was complete"))
        }
        let sent = upload?.handed ?? 0
        settle(.finished(status: status, sent: sent, received: response.received), isOrderly: isOrderly)
    }

    func fail(_ failure: TransferFailure) {
        var failure = failure
        failure.status = response.status
        failure.sent = upload?.handed ?? 0
        failure.received = response.received
        settle(.failed(failure), isOrderly: false)
    }

    /// There are no more events, not even of an end that is still to be reported.
    func cancel() {
        let isFirst = !isOver
        isCancelled = true
        if isFirst { settled?(false) }
    }

    /// Reports the end to the caller, once, after everything else has been cleaned up.
    func reportEnd() {
        upload = nil
        settled = nil
        guard let end, !isCancelled else { return }
        isCancelled = true
        event(.ended(end))
    }

    private func settle(_ end: TransferEnd, isOrderly: Bool) {
        guard !isOver else { return }
        self.end = end
        settled?(isOrderly)
    }
}
