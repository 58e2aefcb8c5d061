/// Why a file was not accepted, read, decrypted or named.
///
/// Equality is by ``code``. The text contains neither the path nor anything of the file's content.
public struct FileError: Error, Equatable, CustomStringConvertible, Sendable {
    /// The kind of a failure. Extensible: switch with a default.
    public struct Code: Hashable, Sendable {
        let name: String
        /// No file has this name, or a symbolic link leads nowhere.
        public static let notFound = Code(name: "no such file")
        /// A directory, a FIFO, a socket or a device.
        public static let notRegular = Code(name: "not a regular file")
        /// The file's permissions, or those of its folder, do not allow the operation.
        public static let notAllowed = Code(name: "not allowed")
        /// The file has no bytes.
        public static let empty = Code(name: "the file is empty")
        /// The file is over the server's limit, or over a limit of the cipher.
        public static let tooLarge = Code(name: "the file is too large")
        /// The disk is full, or would be nearly full.
        public static let diskFull = Code(name: "the disk is full")
        /// The file was changed, cut, extended or removed by others.
        public static let changed = Code(name: "the file changed while it was read")
        /// The image cannot be walked, so its metadata cannot be taken out.
        public static let notStripped = Code(name: "the image is damaged, so its metadata cannot be removed")
        /// The tag of AES-GCM is wrong: the file was changed, or the key is another's.
        public static let tag = Code(name: "the file was changed on its way, or the key is wrong")
        /// The file cannot be a ciphertext, or a key or nonce has a wrong length.
        public static let malformed = Code(name: "malformed")
        /// A file of this name exists.
        public static let nameTaken = Code(name: "a file of this name exists")
        /// The new name is on another file system.
        public static let otherDisk = Code(name: "the folder is on another disk")
        /// Another process works on the file.
        public static let busy = Code(name: "the file is in use")
        /// Reading or writing has failed.
        public static let inputOutput = Code(name: "input/output error")
    }

    public let code: Code
    /// More words, for people: sizes, the kind of the file, or the system's reason. May be empty.
    public let detail: String

    public init(_ code: Code, _ detail: String = "") {
        self.code = code
        self.detail = detail
    }

    public static func == (left: FileError, right: FileError) -> Bool { left.code == right.code }

    public var description: String { detail.isEmpty ? code.name : "\(code.name): \(detail)" }
}
