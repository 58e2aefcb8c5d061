import KalijClient

/// The file of a message as it is displayed, a plain value.
public struct FileRow: Sendable, Equatable {
    public var name: String
    public var kind: FileKind
    /// In bytes; nil if unknown.
    public var size: Int64?
    public var state: FileState
    /// The file on this machine: received and verified, or the user's own.
    public var path: String?
    /// The id of the upload, while the file is on its way or has failed.
    public var upload: String?
    /// The width and the height in pixels, as the sender declares them.
    public var shape: Shape?

    public struct Shape: Sendable, Equatable {
        public let width: Int64
        public let height: Int64

        /// Nil for dimensions that no picture has.
        init?(_ width: Int64?, _ height: Int64?) {
            guard let width, let height, width > 0, height > 0 else { return nil }
            (self.width, self.height) = (width, height)
        }
    }

    public init(name: String, kind: FileKind, size: Int64?, state: FileState) {
        (self.name, self.kind, self.size, self.state) = (name, kind, size, state)
    }

    /// "Picture balcony.jpg"
    public var title: String { kind.words(name) }

    /// "118 KB"; empty if unknown.
    public var sizeWords: String { size.map(Words.bytes) ?? "" }

    /// Whether to display the picture: one that is here, and whose format the decoder accepts.
    public var picture: String? { kind == .picture ? path : nil }

    /// The part that was transferred, from 0 to 1; nil if no transfer is in progress.
    public var fraction: Double? {
        guard case .moving(let bytes, _) = state, let bytes, let size, size > 0 else { return nil }
        return min(1, Double(max(0, bytes)) / Double(size))
    }

    /// What the user can do, the default first.
    public var actions: [FileAction] {
        switch state {
        case .offered: [.download]
        case .moving(_, .up): upload == nil ? [] : [.pause, .cancel]
        case .moving(_, .down): [.pause]
        case .waiting(_, .up): upload == nil ? [] : [.resume, .pause, .cancel]
        case .waiting(_, .down): [.pause]
        case .paused: [.resume, .cancel]
        case .failed(_, .up): upload == nil ? [] : [.retry, .cancel]
        case .failed(_, .down): [.retry]
        case .gone: []
        case .here: path == nil ? [] : [.open, .saveAs]
        }
    }
}

public enum FileAction: Sendable, Hashable, CaseIterable {
    case open, saveAs, download, pause, resume, retry, cancel

    public var words: String {
        switch self {
        case .open: Words.open
        case .saveAs: Words.saveAs
        case .download: Words.download
        case .pause: Words.stop
        case .resume: Words.resume
        case .retry: Words.retry
        case .cancel: Words.remove
        }
    }
}

/// The state of a file, described for the user.
public enum FileState: Sendable, Equatable {
    public enum Direction: Sendable { case up, down }

    /// Waits, with the reason if there is one.
    case waiting(String?, Direction)
    /// The user has paused the upload.
    case paused
    /// A transfer is in progress, with the transferred bytes if they are known.
    case moving(Int64?, Direction)
    /// Offered by the sender, and not fetched.
    case offered
    /// The file is on this machine, or was sent.
    case here
    case failed(String?, Direction)
    /// The sender has named no usable address.
    case gone
}

extension FileRow {
    /// The state in words; empty for a file that is here.
    public var stateWords: String {
        switch state {
        case .waiting(let why, _): why.map(Words.waiting(for:)) ?? Words.waiting
        case .paused: Words.stopped
        case .moving(_, .up): fraction.map { Words.uploading(Self.percent($0)) } ?? Words.uploading
        case .moving(_, .down): fraction.map { Words.downloading(Self.percent($0)) } ?? Words.downloading
        case .offered: Words.notDownloaded
        case .here: ""
        // The delivery state of the message says why.
        case .failed(_, .up): ""
        case .failed(let why, .down): why.map(Words.notDownloaded(why:)) ?? Words.notDownloaded
        case .gone: Words.noAddress
        }
    }

    private static func percent(_ fraction: Double) -> Int { Int(fraction * 100) }

    /// "118 KB. Uploading, 40 percent"
    public var details: String { [sizeWords, stateWords].filter { !$0.isEmpty }.joined(separator: ", ") }
}

/// What a file is, by its media type or its name.
public enum FileKind: Sendable, Equatable {
    case picture, video, sound, document, archive, other

    /// - Parameter type: the media type, as the sender declares it.
    public init(type: String?, name: String) {
        let ending = name.split(separator: ".").dropFirst().last?.lowercased() ?? ""
        let type = type.map { String($0.prefix { $0 != ";" }).lowercased() } ?? ""
        switch type.prefix(while: { $0 != "/" }) {
        case "image": self = .picture
        case "video": self = .video
        case "audio": self = .sound
        case "text": self = .document
        default: self = Self.types[type] ?? Self.endings.first { $0.names.contains(ending) }?.kind ?? .other
        }
    }

    private static let types: [String: FileKind] = [
        "application/pdf": .document, "application/zip": .archive, "application/gzip": .archive,
    ]
    private static let endings: [(kind: FileKind, names: Set<String>)] = [
        (.picture, ["jpg", "jpeg", "png", "gif", "webp", "tif", "tiff", "svg", "bmp", "heic", "avif"]),
        (.video, ["mp4", "webm", "mkv", "mov", "avi", "3gp", "m4v"]),
        (.sound, ["mp3", "ogg", "oga", "opus", "m4a", "wav", "flac", "aac"]),
        (.document, ["pdf", "odt", "ods", "odp", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "txt", "md", "epub"]),
        (.archive, ["zip", "tar", "gz", "xz", "7z", "zst", "rar"]),
    ]

    func words(_ name: String) -> String {
        switch self {
        case .picture: Words.picture(name)
        case .video: Words.video(name)
        case .sound: Words.sound(name)
        case .document: Words.document(name)
        case .archive: Words.archive(name)
        case .other: Words.file(name)
        }
    }
}
