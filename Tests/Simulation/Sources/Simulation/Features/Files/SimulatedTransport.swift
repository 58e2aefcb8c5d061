import KalijTransfer

@testable import KalijCore
@testable import KalijClient

/// The HTTP client of a process, over the simulated service.
final class SimulatedTransport: FileTransport {
    private let http: SimulatedHTTP
    private let schedule: any Scheduler
    private let isDead: () -> Bool

    init(_ http: SimulatedHTTP, _ schedule: any Scheduler, isDead: @escaping () -> Bool) {
        (self.http, self.schedule, self.isDead) = (http, schedule, isDead)
    }

    func start(
        _ request: TransferRequest, body: (any UploadBody)?, _ event: @escaping (TransferEvent) -> Void
    ) -> any Transfer {
        let path = String(request.url.dropFirst(SimulatedFiles.address.count))
        let transfer = SimulatedTransfer(http, schedule, path, body, isDead: isDead, event)
        schedule.schedule(after: http.delay) { transfer.begin(request.method) }
        return transfer
    }
}

extension SimulatedHTTP {
    /// Seconds until something has come over the network.
    var delay: Double { Double(world.random.pick(500...300_000)) / 1_000_000 }
}

/// A PUT or a HEAD.
private final class SimulatedTransfer: Transfer {
    private let http: SimulatedHTTP
    private let schedule: any Scheduler
    private let path: String
    private let body: (any UploadBody)?
    private let isDead: () -> Bool
    private let event: (TransferEvent) -> Void
    private var isOver = false
    private var isSealed = false
    private var sent: Int64 = 0

    init(
        _ http: SimulatedHTTP, _ schedule: any Scheduler, _ path: String, _ body: (any UploadBody)?,
        isDead: @escaping () -> Bool, _ event: @escaping (TransferEvent) -> Void
    ) {
        (self.http, self.schedule, self.path, self.body) = (http, schedule, path, body)
        (self.isDead, self.event) = (isDead, event)
    }

    private static let block: Int64 = 16_384

    func begin(_ method: TransferRequest.Method) {
        guard !isOver else { return }
        if !http.isCalm, http.world.random.chance(5) { return fail(.connect) }
        guard method == .put else { return look() }
        goOn()
    }

    private func look() {
        let (status, length) = http.head(path)
        event(.head(ResponseHead(status: status, fields: [], contentLength: length)))
        finish(status)
    }

    /// The blocks but for the last.
    private func goOn() {
        guard !isOver, let body else { return }
        let rest = body.length - sent
        guard rest > Self.block else { return event(.seal) }
        if !http.isCalm, http.world.random.chance(3) {
            http.cut(path)
            return fail(.cut)
        }
        // The bytes are read as a real client reads them.
        let count = min(rest - Self.block, 4 * Self.block)
        _ = try? withUnsafeTemporaryAllocation(byteCount: Int(count), alignment: 1) { try body.read(into: $0) }
        sent += count
        http.arrived(path, through: sent)
        event(.progress(sent))
        schedule.schedule(after: http.delay / 4) { [weak self] in self?.goOn() }
        watchDeath()
    }

    /// A process that has died has left a torso.
    private func watchDeath() {
        let (http, path, isDead) = (http, path, isDead)
        http.world.after(1_000_000) { [weak self] in
            if self?.isSealed != true, isDead() { http.cut(path) }
        }
    }

    func releaseLastBlock() {
        guard !isOver, !isSealed, let body else { return }
        isSealed = true
        let (http, path, size) = (http, path, body.length)
        // The bytes are on their way, whatever becomes of the process; or they are lost with the connection.
        let isLost = !http.isCalm && http.world.random.chance(10)
        let isAnswered = http.isCalm || !http.world.random.chance(15)
        let isWrong = !http.isCalm && http.world.random.chance(5)
        http.world.after(Int64(http.delay * 1_000_000)) { if !isLost { http.arrived(path, through: size) } }
        schedule.schedule(after: http.delay + 0.6) { [weak self] in
            guard let self, !isOver else { return }
            guard isAnswered, !isLost else { return fail(.cut) }
            event(.head(ResponseHead(status: isWrong ? 500 : 201, fields: [], contentLength: 0)))
            finish(isWrong ? 500 : 201)
        }
    }

    private func finish(_ status: Int) {
        isOver = true
        event(.ended(.finished(status: status, sent: body?.length ?? 0, received: 0)))
    }

    private func fail(_ code: TransferFailure.Code) {
        isOver = true
        event(.ended(.failed(TransferFailure(code, "\(code)"))))
    }

    func pause() {}
    func resume() {}
    func limitSendBuffer(to bytes: Int) {}

    func cancel() {
        if !isOver, !isSealed, body != nil { http.cut(path) }
        isOver = true
    }
}

/// The bytes of a simulated file.
final class SimulatedBody: UploadBody {
    let length: Int64
    private var left: Int64

    init(_ size: Int64) { (length, left) = (size, size) }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, Int(left))
        left -= Int64(count)
        return count
    }
}
