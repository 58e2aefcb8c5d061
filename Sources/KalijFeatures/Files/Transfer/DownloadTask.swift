import Glibc
import KalijCore
import KalijFiles
import KalijTransfer

/// Downloads the file of a message into a partial file, which a later process resumes, and renames it once it is verified to
/// match its description.
final class DownloadTask {
    private let row: ReceivedFileRow
    private weak var downloads: Downloads?
    private let loop: any Scheduler
    private let folders: FileFolders
    private let seams: FileEnvironment
    private var transfer: (any Transfer)?
    private var redirects = Redirects()
    private var request: TransferRequest?
    private var part: PartFile?
    private var checking: IntegrityCheck?
    /// The complete length of the file, according to the server.
    private var total: Int64 = 0
    private var problem: Problem?
    private var reportedAt = -Double.infinity
    private var isPaused = false

    /// Why the transfer was aborted.
    private enum Problem {
        case forGood(String)
        case forNow(String)
        /// The partial file is not usable.
        case fromTheBeginning
        case redirected(TransferRequest)
    }

    init(_ row: ReceivedFileRow, _ downloads: Downloads, _ transfers: Transfers) {
        (self.row, self.downloads) = (row, downloads)
        (loop, folders, seams) = (transfers.loop, transfers.folders, transfers.seams)
    }

    func begin() {
        guard let downloads else { return }
        do {
            try folders.makeReceived(downloads.account.id)
            let part = try PartFile(folders.part(row.message))
            // Only a partial file whose version is identified by a validator can be resumed.
            if row.validator == nil { try part.empty() }
            self.part = part
            var request = TransferRequest(
                .get, url: row.url, caFile: downloads.account.server.caFile, ownHosts: downloads.ownHosts,
                ownAddress: downloads.serverAddress, limits: DownloadShares.limits(automatic: row.isAutomatic))
            if part.size > 0, let validator = row.validator {
                (request.offset, request.validator) = (part.size, validator)
            }
            start(request)
        } catch {
            let (message, words) = (row.message, "\(error)")
            loop.enqueue { [weak downloads] in
                downloads?.ended(message) { try $0.later(message, words) }
            }
        }
    }

    private func start(_ request: TransferRequest) {
        self.request = request
        problem = nil
        transfer = seams.transport.start(request, body: nil) { [weak self] in self?.handle($0) }
        if isPaused { transfer?.pause() }
    }

    private func handle(_ event: TransferEvent) {
        switch event {
        case .head(let head): arrived(head)
        case .bytes(let bytes): arrived(bytes)
        case .ended(let end): ended(end)
        case .progress, .seal: break
        }
    }

    // MARK: Answers

    private func arrived(_ head: ResponseHead) {
        do throws(TransferFailure) {
            if let request, let next = try redirects.next(after: request, head) { return abort(.redirected(next)) }
        } catch { return abort(.forGood("\(error)")) }
        switch head.status {
        case 200: begins(head, at: 0)
        case 206:
            // The rest of another version does not belong to the partial file, even in a 206 response (RFC 9110 section
            // 15.3.7.3).
            guard let range = head.contentRange, range.first == part?.size, request?.offset == range.first,
                head.validator == nil || head.validator == row.validator
            else { return abort(.fromTheBeginning) }
            begins(head, at: range.first)
        case 416: abort(request?.offset == nil ? .forGood("HTTP 416") : .fromTheBeginning)
        case 429, 500...599: abort(.forNow("HTTP \(head.status)"))
        default: abort(.forGood("the server answered HTTP \(head.status)"))
        }
    }

    /// The server will send the bytes from `offset` on.
    private func begins(_ head: ResponseHead, at offset: Int64) {
        guard let length = head.contentLength else {
            return abort(.forGood("the server does not say how large the file is"))
        }
        let (whole, overflow) = offset.addingReportingOverflow(length)
        guard !overflow, whole >= 0 else { return abort(.forGood("the server names an impossible length")) }
        total = whole
        if let problem = refusal(of: whole, coming: length) { return abort(problem) }
        do {
            if offset == 0 { try part?.empty() }
        } catch { return abort(.forNow("\(error)")) }
        // A response with the rest of a file may lack the validator.
        let (message, validator) = (row.message, offset == 0 ? head.validator : row.validator)
        downloads?.step { try $0.began(message, validator: validator) }
    }

    private func refusal(of whole: Int64, coming: Int64) -> Problem? {
        let tag: Int64 = row.key == nil ? 0 : 16
        if row.isAutomatic, whole > ReceivedFiles.maxAutomaticSize + tag {
            return .forGood("too large to be fetched unasked: \(whole) bytes")
        }
        // XEP-0448 section 3.2 permits truncating a file that is longer than specified; it is rejected here, because no client
        // sends one.
        if let size = row.description.size, size &+ tag != whole {
            return .forGood("the server has \(whole) bytes, the sender says \(size)")
        }
        // The decrypted file coexists with the encrypted one for a while.
        let needed = tag == 0 ? coming : coming.addingReportingOverflow(whole).partialValue
        if let room = folders.room, needed > room { return .forNow("the disk has no room for \(whole) bytes") }
        return nil
    }

    private func arrived(_ bytes: UnsafeRawBufferPointer) {
        guard problem == nil, let part else { return }
        do {
            guard part.size + Int64(bytes.count) <= total else {
                return abort(.forGood("the server sends more than it has said"))
            }
            try part.append(bytes)
        } catch { return abort(.forNow("\(error)")) }
        let isTold = loop.now - reportedAt >= 0.5
        if isTold { reportedAt = loop.now }
        downloads?.moved(Int64(bytes.count), of: row, to: part.size, isTold: isTold)
    }

    private func abort(_ problem: Problem) {
        self.problem = problem
        transfer?.cancel()
        transfer = nil
        // Not from within the transfer's event handler.
        loop.enqueue { [weak self] in self?.finish() }
    }

    private func ended(_ end: TransferEnd) {
        transfer = nil
        guard problem == nil else { return }
        switch end {
        case .finished:
            guard part?.size == total else { problem = .forNow("the file has come in part"); return finish() }
            check()
        case .failed(let failure):
            problem =
                [.refusedAddress, .redirect, .invalidRequest, .protocolError, .libraryMissing].contains(failure.code)
                ? .forGood("\(failure)") : .forNow("\(failure)")
            finish()
        }
    }

    private func finish() {
        guard let problem, let downloads else { return }
        let message = row.message
        switch problem {
        case .redirected(let next): start(next)
        case .fromTheBeginning:
            folders.removeParts(message)
            downloads.ended(message) {
                try $0.began(message, validator: nil)
                try $0.later(message, "the server has another file now")
            }
        case .forGood(let reason):
            folders.removeParts(message)
            downloads.ended(message) { try $0.failed(message, reason) }
        case .forNow(let reason): downloads.ended(message) { try $0.later(message, reason) }
        }
    }

    // MARK: Checking

    /// Everything was received: decrypts and hashes the file in slices, and then renames it.
    private func check() {
        part = nil
        do {
            checking = try IntegrityCheck(row, folders)
            continueChecking()
        } catch { checked(.failure(error)) }
    }

    private func continueChecking() {
        guard let checking, let downloads else { return }
        do {
            guard try checking.step() else {
                return loop.enqueue { [weak self] in self?.continueChecking() }
            }
            let path = try UniqueFilename.place(
                checking.result, named: row.suggestedName, in: folders.received(downloads.account.id))
            checked(.success(String(path.dropFirst(folders.root.count + 1))))
        } catch { checked(.failure(error)) }
    }

    private func checked(_ result: Result<String, any Error>) {
        checking = nil
        let message = row.message
        switch result {
        case .success(let name):
            folders.removeParts(message)
            // Without its row the file is an orphan; it is downloaded again.
            let isStored = downloads?.ended(message) { try $0.stored(message, at: name) } ?? false
            if !isStored { folders.remove(name) }
        case .failure(let error as FileError) where error.code == .diskFull || error.code == .inputOutput:
            downloads?.ended(message) { try $0.later(message, "\(error)") }
        case .failure(let error):
            folders.removeParts(message)
            downloads?.ended(message) { try $0.failed(message, "\(error)") }
        }
    }

    // MARK: From outside

    func setPace(isPaused: Bool) {
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        if isPaused { transfer?.pause() } else { transfer?.resume() }
    }

    /// Cancels the transfer; the partial file is kept.
    func cancel() {
        transfer?.cancel()
        (transfer, checking, part) = (nil, nil, nil)
    }
}

/// The verification of a received file: decrypted if needed, and then hashed.
private final class IntegrityCheck {
    /// The path of the verified file, before it is renamed.
    let result: String
    private let decryption: Decryption?
    private var hashing: StreamingHash?
    private let expected: [UInt8]?
    private static let slice = 2 << 20

    init(_ row: ReceivedFileRow, _ folders: FileFolders) throws {
        let part = folders.part(row.message)
        result = row.key == nil ? part : folders.plainPart(row.message)
        decryption = try row.key.map {
            try Decryption(of: part, into: folders.plainPart(row.message), key: FileKey(stored: $0))
        }
        expected = row.description.sha256
    }

    /// Processes one slice.
    /// - Returns: whether the whole file was processed and matches its description.
    func step() throws -> Bool {
        if let decryption, try !decryption.step(bytes: Self.slice) { return false }
        guard let expected else { return true }
        let hashing = try self.hashing ?? StreamingHash(of: result)
        self.hashing = hashing
        guard try hashing.step(bytes: Self.slice) else { return false }
        guard hashing.sha256 == expected else { throw FileMismatch() }
        return true
    }
}

/// The file does not match the description that its sender gave.
private struct FileMismatch: Error, CustomStringConvertible {
    let description = "the file is another than its sender says: its SHA-256 differs"
}

/// The partial file of a download.
private final class PartFile {
    private let descriptor: Int32
    private(set) var size: Int64 = 0

    init(_ path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Self.failure()
        }
        size = Int64(status.st_size)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func empty() throws {
        guard ftruncate(descriptor, 0) == 0 else { throw Self.failure() }
        size = 0
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(size))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure() }
            size += Int64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])  // traps: never, `count` is at most the size
        }
    }

    private static func failure() -> FileError {
        FileError(errno == ENOSPC ? .diskFull : .inputOutput, String(cString: strerror(errno)))
    }
}
