import Glibc
import KalijAddress
import KalijClient
import KalijTransport

import FoundationEssentials

/// Reads JSON commands from standard input, one per line, for one engine after the other: a partial line at the end of an engine
/// is kept for the next engine.
final class CommandInput {
    private let output: EventOutput
    private var engine: Engine?
    private var watch: Watch?
    private var lines = LineBuffer(longest: 1 << 20)
    private var isOver = false

    /// Decoded before the rest of a command, which may be invalid.
    private struct Identified: Decodable {
        /// Any value that the program has chosen; null is a valid id.
        let id: CommandJSON?

        private enum CodingKeys: CodingKey { case id }

        init(from decoder: any Decoder) throws {
            let command = try decoder.container(keyedBy: CodingKeys.self)
            id = command.contains(.id) ? try command.decode(CommandJSON.self, forKey: .id) : nil
        }
    }

    private struct Request: Decodable {
        let command: String
        let to: String?
        let body: String?
        let account: String?
        let originID: String?
        let reply: MessageReference?
        let plain: Bool?
        let file: String?
        let keepMetadata: Bool?

        private enum CodingKeys: String, CodingKey {
            case command, to, body, account, reply, plain, file
            case originID = "origin_id"
            case keepMetadata = "keep_metadata"
        }

        func sender() throws -> JID? { try account.map { try CommandErrors.address($0, "account") } }
    }

    /// The addresses among the keys of intents; the intents themselves decode any text.
    private struct Addresses: Decodable {
        let contact, conversation, address, room: String?

        func check() throws {
            let all = [("contact", contact), ("conversation", conversation), ("address", address), ("room", room)]
            for (key, text) in all { _ = try text.map { try CommandErrors.address($0, key) } }
        }
    }

    private struct Answer: Encodable {
        var event = "error"
        var id: CommandJSON?
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

    /// Directs commands to `engine` from now on.
    func attach(_ engine: Engine) {
        detach()
        self.engine = engine
        // A regular file or /dev/null cannot be polled, and supplies no commands.
        var status = stat()
        guard !isOver, fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT != S_IFREG,
            !Self.isNullDevice(status)
        else { return }
        watch = try? engine.loop.watch(STDIN_FILENO, .read) { [weak self] _ in self?.readSome() }
    }

    /// Suspends reading; commands wait.
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
        lines.append(buffer[..<count]).forEach(handle)
    }

    /// The end of input does not end the run.
    private func end() {
        isOver = true
        lines.end().map(handle)
        watch?.cancel()
        watch = nil
    }

    private func handle(_ line: LineBuffer.Line) {
        guard line != .bytes([]) else { return }
        var id: CommandJSON?
        do {
            guard case .bytes(let bytes) = line else { throw Failure(.badInput, "the line is longer than 1 MiB") }
            let line = Data(bytes)
            id = try CommandJSON.decoder().decode(Identified.self, from: line).id
            try perform(try JSONDecoder().decode(Request.self, from: line), id, line)
        } catch {
            answer(Answer(id: id, reason: CommandErrors.text(error)))
        }
    }

    private func perform(_ request: Request, _ id: CommandJSON?, _ line: Data) throws {
        guard let engine else { throw EngineError.notRunning }
        switch request.command {
        case "send" where request.file != nil: try accept(file: request, id, engine)
        case "send":
            guard let to = request.to, let body = request.body else {
                throw Failure(.badInput, "`send` needs `to` and `body`")
            }
            let message = try engine.accept(
                body, to: CommandErrors.address(to, "to"), from: request.sender(), id: request.originID,
                answering: request.reply, privacy: request.plain ?? false ? .plain : .asConversation)
            let record = EventRecord(message, account: message.from, at: message.sentAt)
            answer(Answer(event: "accepted", id: id, message: record))
        case "stop": engine.stop()
        default:
            guard let intent = engine.intents.first(where: { $0.name == request.command }) else {
                throw Failure(.badInput, "unknown command \"\(request.command)\"")
            }
            try accept(intent, request, id, line, engine)
        }
    }

    /// Accepts a file on a thread of its own: copying a large file takes time, and the engine continues in the meantime.
    private func accept(file request: Request, _ id: CommandJSON?, _ engine: Engine) throws {
        guard let to = request.to, let path = request.file else { throw Failure(.badInput, "`send` needs `to`") }
        guard request.reply == nil else { throw Failure(.badInput, "a file cannot answer a message") }
        let (recipient, jid) = (try CommandErrors.address(to, "to"), try request.sender())
        let attachments = Attachments(directory, of: jid)
        let (text, originID, keeping) = (request.body, request.originID, request.keepMetadata ?? false)
        let privacy: EncryptionPreference = request.plain ?? false ? .plain : .asConversation
        let waker = engine.loop.waker
        // Accessed on the loop's thread only: the waker forwards the response there.
        nonisolated(unsafe) weak let input = self
        _ = try JoinableThread {
            let answer: Answer
            do {
                let upload = try attachments.send(
                    path, to: recipient, text: text, id: originID, keepingMetadata: keeping, privacy: privacy)
                answer = Answer(event: "accepted", id: id, upload: UploadRecord(upload))
            } catch { answer = Answer(id: id, reason: CommandErrors.text(error)) }
            waker.enqueue { input?.answer(answer) }
        }
    }

    /// A command that is an intent: its keys are the keys of the intent.
    private func accept<Wanted: Intent>(
        _ type: Wanted.Type, _ request: Request, _ id: CommandJSON?, _ line: Data, _ engine: Engine
    ) throws {
        try JSONDecoder().decode(Addresses.self, from: line).check()
        let intent = try JSONDecoder().decode(type, from: line)
        let originID = try engine.accept(intent, for: request.sender(), id: request.originID)
        answer(Answer(event: "accepted", id: id, command: request.command, originID: originID))
    }

    private func answer(_ answer: Answer) {
        do { output.answer(try JSONLine.of(answer)) } catch { Output.error("\(error)") }
    }
}
