import KalijClient

extension FileRow {
    /// The file of a stored message.
    init(_ file: MessageFile) {
        let name = file.name?.shownName ?? ""
        self.init(
            name: name, kind: FileKind(type: file.type, name: name), size: file.size, state: FileState(file))
        (path, shape) = (file.path, Shape(file.width, file.height))
    }

    /// A file on its way to the server.
    /// - Parameter isFirst: whether no other file of the conversation is before it.
    init(_ upload: Attachments.Upload, isFirst: Bool) {
        let name = upload.name.shownName
        self.init(
            name: name, kind: FileKind(type: upload.type, name: name), size: upload.size,
            state: FileState(upload, isFirst: isFirst))
        (path, shape) = (upload.path, Shape(upload.width, upload.height))
        self.upload = upload.id
    }
}

extension FileState {
    init(_ file: MessageFile) {
        switch file.state {
        case .own, .stored: self = .here
        case .offered: self = .offered
        case .wanted: self = file.problem.map { .waiting($0.shownLine, .down) } ?? .moving(nil, .down)
        case .failed: self = .failed(file.problem?.shownLine, .down)
        }
    }

    init(_ upload: Attachments.Upload, isFirst: Bool) {
        switch upload.state {
        case "asking", "putting", "sealed": self = .moving(nil, .up)
        case "failed": self = .failed(upload.reason?.shownLine, .up)
        case _ where upload.isPaused: self = .paused
        default: self = .waiting(upload.reason.map(Self.why) ?? (isFirst ? nil : Words.fileBefore), .up)
        }
    }

    /// Describes a reason of the engine, which begins with a code unless the server has given it.
    static func why(_ reason: String) -> String {
        switch reason.prefix(while: { $0 != ":" }) {
        case "no-upload-service": Words.noUploads
        case "too-slow": Words.tooSlow
        case "connection-lost": Words.lostConnection
        default: Words.notNow
        }
    }
}

extension MessageRow {
    /// A file on its way to the server, whose message is not stored yet.
    init(_ upload: Attachments.Upload, isFirst: Bool) {
        let file = FileRow(upload, isFirst: isFirst)
        let text = upload.text.map { file.title + "\n" + $0.shownText.text } ?? file.title
        self.init(id: Self.row(of: upload.id), author: Words.you, isOwn: true, text: text, at: upload.acceptedAt)
        self.file = file
    }

    /// A negative number, constant for an upload, below those of the mailbox's messages.
    private static func row(of id: String) -> Int64 {
        let hash = id.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return .min &+ Int64(hash >> 2)  // fits: 62 bits
    }

    /// Whether the row is of a file whose message is not stored yet.
    public var isUpload: Bool { file?.upload != nil && id < 0 }
}

extension Page {
    /// Adds the files on their way: as rows at the newest end, or to the messages of those that have failed.
    mutating func add(_ uploads: [Attachments.Upload]) {
        var isFirst = true
        for upload in uploads {
            if upload.state == "failed" {
                guard let place = messages.lastIndex(where: { $0.origin == upload.id }) else { continue }
                messages[place].file = FileRow(upload, isFirst: true)
                messages[place].text = messages[place].file?.title ?? ""
            } else if !hasNewer {
                messages.append(MessageRow(upload, isFirst: isFirst))
                isFirst = false
            }
        }
    }

    /// Whether a message or a file is not sent yet.
    public var hasWaiting: Bool {
        messages.contains { if case .waiting = $0.state { true } else { $0.file?.upload != nil } }
    }

    /// Without a connection, texts and files wait for it, whatever they have waited for before; except a text in the mailbox.
    public mutating func noteOffline() {
        for place in messages.indices {
            if case .waiting(let reason) = messages[place].state, reason != .driver {
                messages[place].state = .waiting(.connection(nil))
            }
            guard let file = messages[place].file, file.upload != nil else { continue }
            switch file.state {
            case .waiting(_, .up), .moving(_, .up): messages[place].file?.state = .waiting(Words.noConnection, .up)
            default: break
            }
        }
    }
}

extension MessageRow {
    /// The key of the row's transfer in the changes of the directory.
    var transfer: String? { file.map { $0.upload ?? "\(id)" } }

    /// More of the file was transferred.
    mutating func moved(to bytes: Int64) {
        guard case .moving(_, let direction) = file?.state else { return }
        file?.state = .moving(bytes, direction)
    }
}
