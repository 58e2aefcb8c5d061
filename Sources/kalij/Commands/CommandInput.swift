import Glibc
import KalijAddress
import KalijClient
import KalijTransport

import FoundationEssentials

/// Takes JSON commands from standard input, a line each, for one engine after the other: a partly read command at the
/// end of an engine is kept for the next engine.
final class CommandInput {
    private let output: EventOutput
    private var engine: Engine?
    private var watch: Watch?
    private var line: [UInt8] = []
    private var isOver = false
    private static let longestLine = 1 << 20

    private struct Request: Decodable {
        let command: String
        let to: String?
        let body: String?
        let account: String?
        let id: Int?
        let originID: String?
        let reply: MessageReference?
        let plain: Bool?
        let file: String?
        let keepMetadata: Bool?

        private enum CodingKeys: String, CodingKey {
            case command, to, body, account, id, reply, plain, file
            case originID = "origin_id"
            case keepMetadata = "keep_metadata"
        }
    }

    private struct Answer: Encodable {
        var event = "error"
        var id: Int?
        var reason: String?
        var message: EventRecord?
        var command: String?
        var originID: String?
        var upload: UploadRecord?

        private enum CodingKeys: String, CodingKey {
            case event, id, reason, message, command, upload
            case originID = "origin_id"
        }
    }

    private let directory: AccountDirectory

    init(_ output: EventOutput, _ directory: AccountDirectory) { (self.output, self.directory) = (output, directory) }

    /// From now on commands are for `engine`.
    func attach(_ engine: Engine) {
        detach()
        self.engine = engine
        // A file or /dev/null cannot be watched: nobody gives commands there.
        var status = stat()
        guard !isOver, fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT != S_IFREG,
            !Self.isNullDevice(status)
        else { return }
        watch = try? engine.loop.watch(STDIN_FILENO, .read) { [weak self] _ in self?.readSome() }
    }

    /// Commands wait.
    func detach() {
        watch?.cancel()
        watch = nil
        engine = nil
    }

    private static func isNullDevice(_ status: stat) -> Bool {
        var null = stat()
        return stat("/dev/null", &null) == 0 && null.st_rdev == status.st_rdev && status.st_mode & S_IFMT == S_IFCHR
    }

    private func readSome() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        guard count > 0 else {
            if count < 0, errno == EINTR || errno == EAGAIN { return }
            return end()
        }
        for byte in buffer[..<count] {
            if byte == 0x0A {
                finishLine()
            } else if line.count < Self.longestLine {
                line.append(byte)
            }
        }
    }

    /// The end of input does not end the run.
    private func end() {
        isOver = true
        finishLine()
        watch?.cancel()
        watch = nil
    }

    private func finishLine() {
        defer { line = [] }
        handle(line)
    }

    private func handle(_ line: [UInt8]) {
        guard !line.isEmpty else { return }
        var id: Int?
        do {
            guard line.count < Self.longestLine else { throw Failure(.badInput, "the line is longer than 1 MiB") }
            let request = try JSONDecoder().decode(Request.self, from: Data(line))
            id = request.id
            try perform(request, line)
        } catch let error as DecodingError {
            answer(Answer(id: id, reason: "no command: \(Self.explain(error))"))
        } catch {
            answer(Answer(id: id, reason: Failure(error).message))
        }
    }

    private func perform(_ request: Request, _ line: [UInt8]) throws {
        guard let engine else { throw EngineError.notRunning }
        switch request.command {
        case "send" where request.file != nil: try accept(file: request, engine)
        case "send":
            guard let to = request.to, let body = request.body else {
                throw Failure(.badInput, "`send` needs `to` and `body`")
            }
            let message = try engine.accept(
                body, to: JID(to), from: request.account.map { try JID($0) }, id: request.originID,
                answering: request.reply, privacy: request.plain ?? false ? .plain : .asConversation)
            let record = EventRecord(message, account: message.from, at: message.sentAt)
            answer(Answer(event: "accepted", id: request.id, message: record))
        case "stop": engine.stop()
        default:
            guard let intent = engine.intents.first(where: { $0.name == request.command }) else {
                throw Failure(.badInput, "unknown command \"\(request.command)\"")
            }
            try accept(intent, request, line, engine)
        }
    }

    /// Accepts a file on a thread of its own: copying a large file takes time, and the account goes on meanwhile.
    private func accept(file request: Request, _ engine: Engine) throws {
        guard let to = request.to, let path = request.file else { throw Failure(.badInput, "`send` needs `to`") }
        guard request.reply == nil else { throw Failure(.badInput, "a file cannot answer a message") }
        let (recipient, jid) = (try JID(to), try request.account.map { try JID($0) })
        let attachments = Attachments(directory, of: jid)
        let (text, id, keeping) = (request.body, request.originID, request.keepMetadata ?? false)
        let privacy: Privacy = request.plain ?? false ? .plain : .asConversation
        let (number, waker) = (request.id, engine.loop.waker)
        // Used by the loop's thread alone: the waker brings the answer there.
        nonisolated(unsafe) weak let input = self
        try OwnThread.start {
            let answer: Answer
            do {
                let upload = try attachments.send(
                    path, to: recipient, text: text, id: id, keepingMetadata: keeping, privacy: privacy)
                answer = Answer(event: "accepted", id: number, upload: UploadRecord(upload))
            } catch { answer = Answer(id: number, reason: Failure(error, file: path).message) }
            waker.enqueue { input?.answer(answer) }
        }
    }

    /// A command that is an intent: its keys are the keys of the intent.
    private func accept<Wanted: Intent>(
        _ type: Wanted.Type, _ request: Request, _ line: [UInt8], _ engine: Engine
    ) throws {
        let intent = try JSONDecoder().decode(type, from: Data(line))
        let id = try engine.accept(intent, for: request.account.map { try JID($0) }, id: request.originID)
        answer(Answer(event: "accepted", id: request.id, command: request.command, originID: id))
    }

    private func answer(_ answer: Answer) {
        do { output.answer(try JSONLine.of(answer)) } catch { Output.error("\(error)") }
    }

    private static func explain(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "`\(key.stringValue)` is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "`\(context.codingPath.map(\.stringValue).joined(separator: "."))` has the wrong type"
        default: "it is not valid JSON"
        }
    }
}
