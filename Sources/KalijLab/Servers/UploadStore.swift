import FoundationEssentials

/// What a server's upload service accepts (XEP-0363).
public struct UploadLimits: Sendable {
    /// Bytes of the largest file, announced as `max-file-size`.
    public var size: Int
    /// Bytes of all slots that a user may request in a day: Prosody's alone. nil for Prosody's own choice, ten times the size.
    public var dailyQuota: Int?
    /// The port in the URLs, of a proxy before the service; nil for the service's own port.
    public var namedPort: Int?

    /// 10 MiB by default, as Prosody itself.
    public init(size: Int = 10 << 20, dailyQuota: Int? = nil, namedPort: Int? = nil) {
        self.size = size
        self.dailyQuota = dailyQuota
        self.namedPort = namedPort
    }

    /// 2 GiB, and a terabyte a day.
    public static let large = UploadLimits(size: 2 << 30, dailyQuota: 1_000_000_000_000)
}

/// The upload service `upload.DOMAIN` of a server, at `https://localhost:PORT`, and the files on the server's disk: tests judge
/// by these what was really uploaded.
public struct UploadStore: Sendable {
    private let kind: ServerKind
    /// The port for HTTPS on 127.0.0.1. The certificate is that of the server.
    public let port: Int
    /// The folder with the files. Missing before the first upload.
    public let folder: String
    /// The port in the URLs.
    private let namedPort: Int

    init(kind: ServerKind, port: Int, folder: String, limits: UploadLimits) {
        self.kind = kind
        namedPort = limits.namedPort ?? port
        self.port = port
        self.folder = folder
    }

    /// A name in Prosody's folders: all but letters and digits of ASCII is percent-encoded, in the form `%2e`.
    static func prosodyName(_ name: String) -> String {
        name.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isPlain ? String(scalar) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
        }.joined()
    }

    /// The paths of all files, in order, those of unfinished uploads among them (Prosody's end with `~`).
    public func files() -> [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return all.map { folder + "/" + $0 }.filter { path in
            var isFolder = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder
        }.sorted()
    }

    /// The path of the file that a GET of `url` gives, whether the file is there or not; nil if the URL is not the service's.
    public func path(of url: String) -> String? {
        guard url.hasPrefix("https://localhost:\(namedPort)/") else { return nil }
        let parts = url.split(separator: "/").map(String.init)
        switch kind {
        // https:, host, module, slot, name: the file is named for the slot.
        case .prosody where parts.count == 5: return "\(folder)/\(Self.prosodyName(parts[3])).bin"
        // https:, host, module, user's hash, random, name
        case .ejabberd where parts.count == 6: return "\(folder)/\(parts[3])/\(parts[4])/\(parts[5])"
        default: return nil
        }
    }
}
