import Glibc
import KalijText

/// Names for received files: a stranger's suggestion is cleaned, and nothing is overwritten.
public enum UniqueFilename {
    /// Bytes of UTF-8 in a cleaned name.
    public static let limit = 120

    /// A name that is safe on every file system, in a terminal and in a list.
    ///
    /// Only the part after the last `/` or `\` counts. Controls, controls of direction, invisible characters and unassigned
    /// ones are left out, spaces of all kinds become a space, characters that Windows reserves become `_`. A name does not
    /// begin with a dot or a space, does not end with either, begins with `_` instead of `-`, and is no name of a device of
    /// Windows. At most 120 bytes are left, cut between characters; the extension stays.
    /// - Returns: `file` if nothing is left.
    public static func cleaned(_ suggested: String) -> String {
        let scalars = suggested.unicodeScalars
        let separator = scalars.lastIndex { $0 == "/" || $0 == "\\" }
        let last = separator.map { scalars[scalars.index(after: $0)...] } ?? scalars[...]
        var clean = String.UnicodeScalarView()
        // A name of megabytes is not read to its end.
        for scalar in last.prefix(4096) {
            if let kept = kept(scalar) { clean.append(kept) }
        }
        let name = shortened(trimmed(String(clean)[...]), to: limit)
        guard !name.isEmpty else { return "file" }
        if name.begins(with: "-") {
            return "_" + shortened(String(name.unicodeScalars.dropFirst()), to: limit - 1)
        }
        return isDevice(name) ? "_" + shortened(name, to: limit - 1) : name
    }

    /// The scalar to write; nil for none.
    private static func kept(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator: return nil
        case .spaceSeparator: return " "
        default: break
        }
        if scalar.properties.isDefaultIgnorableCodePoint { return nil }
        return reserved.contains(scalar) ? "_" : scalar
    }

    private static let reserved = Set("<>:\"|?*".unicodeScalars)

    /// Without dots and spaces around.
    private static func trimmed(_ name: Substring) -> String {
        var scalars = name.unicodeScalars
        while let first = scalars.first, first == "." || first == " " { scalars.removeFirst() }
        while let last = scalars.last, last == "." || last == " " { scalars.removeLast() }
        return String(Substring(scalars))
    }

    /// At most `limit` bytes, with the extension if there is a short one.
    private static func shortened(_ name: String, to limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        let (stem, end) = parts(name)
        return trimmed(String(stem).cut(to: limit - end.utf8.count)[...]) + end
    }

    /// A name without its extension, and the extension with its dot, if it has at most 16 bytes.
    private static func parts(_ name: String) -> (stem: Substring, end: String) {
        guard let dot = name.unicodeScalars.lastIndex(of: "."), dot > name.startIndex, name[dot...].utf8.count <= 16
        else { return (name[...], "") }
        return (name[..<dot], String(name[dot...]))
    }

    /// CON, NUL, COM1 and others are devices in every folder of Windows, whatever the extension.
    private static func isDevice(_ name: String) -> Bool {
        let stem = name.unicodeScalars.prefix { $0 != "." }
        return devices.contains(trimmed(Substring(stem)).uppercased())
    }

    private static let devices: Set<String> = {
        let numbers = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "\u{B9}", "\u{B2}", "\u{B3}"]
        return Set(["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"] + numbers.flatMap { ["COM" + $0, "LPT" + $0] })
    }()

    // MARK: Placing

    /// Gives a finished file its name in `folder`; a taken name gets a number: `photo (2).jpg`.
    ///
    /// The file gets the mode 0600, and is on the disk before its name; the name is on the disk afterwards.
    /// - Parameters:
    ///   - part: the path of the file.
    ///   - suggested: a name, cleaned here.
    ///   - folder: an existing folder of the same file system.
    /// - Returns: the path.
    /// - Throws: `FileError`: `.otherDisk`, `.nameTaken` if a thousand numbers are taken, or by the system's error. The
    ///   part is still there.
    public static func place(_ part: String, named suggested: String, in folder: String) throws(FileError) -> String {
        try place(part, named: suggested, in: folder, AtomicRename.move)
    }

    /// Gives a finished file a second name in `folder`, a hard link, as ``place(_:named:in:)``.
    /// - Returns: the path of the link.
    /// - Throws: `FileError`
    public static func link(_ path: String, named suggested: String, in folder: String) throws(FileError) -> String {
        try place(path, named: suggested, in: folder, AtomicRename.addName)
    }

    private static func place(
        _ part: String, named suggested: String, in folder: String, _ name: (String, String) throws(FileError) -> Bool
    ) throws(FileError) -> String {
        let file = try Descriptor(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        try file.status().requireRegular()
        guard fchmod(file.number, 0o600) == 0 else { throw .system(errno, "setting the permissions") }
        try file.sync()
        let (stem, end) = parts(cleaned(suggested))
        for number in 1...1000 {
            let path = "\(folder)/\(stem)\(number == 1 ? "" : " (\(number))")\(end)"
            guard try name(part, path) else { continue }
            try Descriptor.sync(folder: folder)
            return path
        }
        throw FileError(.nameTaken)
    }
}
