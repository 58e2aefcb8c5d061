import KalijCore
import KalijTransfer

/// The uploads of an account in this process.
final class UploadDriver {
    // traps: never, the owner of this object
    private unowned let transfers: Transfers
    private let steps: FileSteps
    private var puts: [Int64: UploadTask] = [:]
    private var checks: [Int64: UploadCheck] = [:]
    /// When the slot of each upload's last PUT was requested.
    private var tried: [Int64: Int64] = [:]

    init(_ transfers: Transfers) { (self.transfers, steps) = (transfers, transfers.steps) }

    private var now: Int64 { steps.runner.steadyNow }
    var isMoving: Bool { !puts.isEmpty }

    /// How many uploads run at once.
    private var maxUploads: Int { transfers.rate.isSlow ? 1 : 2 }

    // MARK: Looking for work

    /// - Parameter mayBegin: whether there is a session, which is required to request a slot.
    func checkForWork(mayBegin: Bool) throws {
        let active = try steps.uploads.active()
        // The user may have cancelled an upload.
        tried = tried.filter { id, _ in active.contains { $0.id == id } }
        for (id, put) in puts where !active.contains(where: { $0.id == id && $0.plan.stage != .asking }) {
            put.cancel()
            puts[id] = nil
        }
        for row in active where puts[row.id] == nil && checks[row.id] == nil {
            switch row.plan.stage {
            // The end of a PUT could not be stored because the disk was full. A slot is not used twice.
            case .putting where tried[row.id] == row.plan.requestedAt:
                transfers.host.release(try steps.upload { try $0.handle(.put(.stopped), row.id) })
            case .putting: put(row)
            case .sealed where row.plan.notBefore <= now: beginCheck(for: row)
            case .sealed, .asking, .waiting, .done, .failed: break
            }
        }
        if mayBegin { try beginWaiting(besides: active) }
        if try !steps.uploads.forgettable(at: now).isEmpty {
            transfers.host.release(try steps.upload { try $0.forgetFailed() })
        }
    }

    /// When the next upload is due, in milliseconds of the steady time.
    func nextTime() throws -> Int64? {
        let sealed = try steps.uploads.active().filter { $0.plan.stage == .sealed && checks[$0.id] == nil }
        return ([try steps.uploads.nextDue()] + sealed.map(\.plan.notBefore)).compactMap { $0 }.filter { $0 > now }
            .min()
    }

    /// The files of a conversation keep their order; a file that waits for a time does not block others.
    private func beginWaiting(besides active: [UploadRow]) throws {
        // An upload that waits for its next check transfers nothing.
        let moving = active.count { $0.plan.stage != .sealed || $0.plan.notBefore <= now || puts[$0.id] != nil }
        guard moving < maxUploads else { return }
        var busy = Set(active.map(\.recipient))
        var (room, hasBegun) = (maxUploads - moving, false)
        for row in try steps.uploads.due(at: now, limit: 100) where room > 0 && !busy.contains(row.recipient) {
            guard try fits(row) else { continue }
            transfers.host.release(try steps.upload { try $0.begin(row.id) })
            busy.insert(row.recipient)
            room -= 1
            hasBegun = true
        }
        // Flushes the requests for slots: no other event is certain to do so.
        if hasBegun { transfers.host.flush() }
    }

    /// Whether the upload can complete before this process has to end.
    private func fits(_ row: UploadRow) throws -> Bool {
        guard let end = transfers.host.end else { return true }
        guard row.plan.notBefore != UploadPlan.foreground else { return false }
        let left = end - transfers.loop.now
        guard let rate = transfers.rate.value, Double(row.putSize) / max(rate, 1) > left else { return true }
        transfers.host.release(try steps.upload { try $0.handle(.needsForeground, row.id) })
        return false
    }

    // MARK: Transfers

    private func put(_ row: UploadRow) {
        let put = UploadTask(row, self)
        puts[row.id] = put
        tried[row.id] = row.plan.requestedAt
        do {
            try put.begin(transfers)
            transfers.keepPace()
        } catch {
            let reason = "the accepted file: \(error)"
            transfers.loop.enqueue { [weak self] in self?.ended(row.id, .put(.broken(reason))) }
        }
    }

    private func beginCheck(for row: UploadRow) {
        let look = UploadCheck(row, self)
        checks[row.id] = look
        look.begin(transfers)
    }

    /// `more` further bytes were sent, `bytes` of the upload in total.
    func moved(_ more: Int64, of row: UploadRow, to bytes: Int64, isTold: Bool) {
        transfers.moved(more)
        if isTold { transfers.host.emit(UploadChanged(row, bytes: bytes)) }
    }

    /// The last block is about to be sent.
    /// - Returns: whether the block may be sent.
    func seal(_ id: Int64) -> Bool {
        var isSealed = false
        transfers.host.attempt {
            guard let effects = try steps.seal(id) else { return }
            isSealed = true
            transfers.host.release(effects)
        }
        return isSealed
    }

    func ended(_ id: Int64, _ event: UploadPlan.Event) {
        puts[id] = nil
        checks[id] = nil
        transfers.host.attempt {
            transfers.host.release(try steps.upload { try $0.handle(event, id) })
            transfers.host.flush()
        }
        transfers.enqueueCheck()
    }

    func setPace(isPaused: Bool, sendBuffer: Int) {
        for put in puts.values { put.setPace(isPaused: isPaused, sendBuffer: sendBuffer) }
    }

    func stop() {
        for put in puts.values { put.cancel() }
        for look in checks.values { look.cancel() }
        (puts, checks) = ([:], [:])
    }
}
