import KalijCore
import KalijTransfer

/// A PUT of a file (XEP-0363 section 6).
final class UploadTask {
    private let row: UploadRow
    private weak var uploading: UploadDriver?
    private var transfer: (any Transfer)?
    private var head: ResponseHead?
    private var sent: Int64 = 0
    private var reportedAt = -Double.infinity
    private var isPaused = false
    private var loop: (any Scheduler)?

    init(_ row: UploadRow, _ uploading: UploadDriver) { (self.row, self.uploading) = (row, uploading) }

    /// - Throws: an error if the file cannot be read.
    func begin(_ transfers: Transfers) throws {
        guard let slot = row.plan.slot else { throw Broken() }
        loop = transfers.loop
        let body = try transfers.seams.body(transfers.folders.accepted(row.file), row.key)
        guard body.length == row.putSize else { throw Broken() }
        let type = row.key == nil ? row.description.type ?? "application/octet-stream" : "application/octet-stream"
        var request = TransferRequest(
            .put, url: slot.put, fields: slot.headers.map { HeaderField($0.name, $0.value) },
            caFile: transfers.steps.account.server.caFile)
        request.fields.append(HeaderField("Content-Type", type))
        request.ownHosts = [UploadServices.host(of: slot.put)]
        request.ownAddress = transfers.serverAddress
        request.limits.sendBuffer = transfers.rate.sendBuffer
        transfer = transfers.seams.transport.start(request, body: body) { [weak self] in self?.handle($0) }
    }

    private struct Broken: Error, CustomStringConvertible {
        let description = "it has another size than when it was accepted"
    }

    private func handle(_ event: TransferEvent) {
        switch event {
        case .progress(let bytes): moved(to: bytes)
        case .seal:
            // The block is withheld unless the seal is on the disk.
            if uploading?.seal(row.id) ?? false { transfer?.releaseLastBlock() } else { abort() }
        case .head(let head): self.head = head
        case .bytes: break
        case .ended(let end): ended(end)
        }
    }

    private func moved(to bytes: Int64) {
        let now = loop?.now ?? 0
        let isTold = now - reportedAt >= 0.5
        if isTold { reportedAt = now }
        // Bytes in the socket's send buffer are not counted: otherwise the link would appear as fast as memory.
        let left = max(sent, bytes - (transfer?.unacknowledged ?? 0))
        uploading?.moved(left - sent, of: row, to: left, isTold: isTold)
        sent = left
    }

    private func ended(_ end: TransferEnd) {
        transfer = nil
        let retryAfter = head?.retryAfter.map { min(max(0, $0), 86_400) * 1000 }
        switch end {
        case .finished(let status, _, _):
            uploading?.ended(row.id, .put(.status(status, retryAfter: retryAfter)))
        case .failed(let failure):
            if let status = failure.status ?? head?.status {
                uploading?.ended(row.id, .put(.status(status, retryAfter: retryAfter)))
            } else if failure.code == .source {
                uploading?.ended(row.id, .put(.broken("the accepted file: \(failure)")))
            } else {
                uploading?.ended(row.id, .put(.cut("\(failure)")))
            }
        }
    }

    private func abort() {
        cancel()
        uploading?.ended(row.id, .put(.stopped))
    }

    func setPace(isPaused: Bool, sendBuffer: Int) {
        transfer?.limitSendBuffer(to: sendBuffer)
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        if isPaused { transfer?.pause() } else { transfer?.resume() }
    }

    func cancel() {
        transfer?.cancel()
        transfer = nil
    }
}

/// Determines with a HEAD request to the file's GET URL whether the server has the whole file.
final class UploadCheck {
    private let row: UploadRow
    private weak var uploading: UploadDriver?
    private var transfer: (any Transfer)?
    private var head: ResponseHead?

    init(_ row: UploadRow, _ uploading: UploadDriver) { (self.row, self.uploading) = (row, uploading) }

    func begin(_ transfers: Transfers) {
        guard let slot = row.plan.slot else { return }
        let request = TransferRequest(
            .head, url: slot.get, caFile: transfers.steps.account.server.caFile,
            ownHosts: [UploadServices.host(of: slot.get)], ownAddress: transfers.serverAddress)
        transfer = transfers.seams.transport.start(request, body: nil) { [weak self] event in
            guard let self else { return }
            switch event {
            case .head(let head): self.head = head
            case .ended(let end): ended(end)
            case .progress, .seal, .bytes: break
            }
        }
    }

    private func ended(_ end: TransferEnd) {
        transfer = nil
        let answer: UploadCheckResult =
            switch (end, head) {
            case (.finished(let status, _, _), _) where status >= 500 || status == 429: .unknown("HTTP \(status)")
            case (.finished, let head?) where head.status == 200 && head.contentLength == row.putSize: .whole
            case (.finished, _): .missing
            case (.failed(let failure), _): .unknown("\(failure)")
            }
        uploading?.ended(row.id, .check(answer))
    }

    func cancel() {
        transfer?.cancel()
        transfer = nil
    }
}
