import CLinux
import Glibc

/// Copies a stored file to a folder that the user has chosen.
public enum FileCopy {
    /// Copies a file under a new name; nothing is replaced. On a file system with shared blocks no byte is copied.
    /// - Parameters:
    ///   - path: a regular file.
    ///   - name: the intended name.
    ///   - folder: an existing folder.
    ///   - exactly: whether the name is taken as it is: the user has chosen it. Else the name is cleaned, and gets a number if taken.
    /// - Returns: the path of the copy.
    /// - Throws: `FileError`: `.nameTaken` for an exact name; an error of the disk. Nothing is left then.
    public static func make(
        of path: String, named name: String, in folder: String, exactly: Bool
    ) throws(FileError) -> String {
        try make(of: path, in: folder) { part, output throws(FileError) in
            guard exactly else { return try UniqueFilename.place(part, named: name, in: folder) }
            try output.sync()
            guard try AtomicRename.move(part, to: "\(folder)/\(name)") else { throw FileError(.nameTaken) }
            return "\(folder)/\(name)"
        }
    }

    /// Copies a file to a path that the user has chosen; what was there is replaced when the copy is whole.
    /// - Parameters:
    ///   - path: a regular file.
    ///   - target: the absolute path of the copy.
    /// - Throws: `FileError`. What was there remains then, and nothing else is left.
    public static func make(of path: String, replacing target: String) throws(FileError) {
        let slash = target.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(target[..<$0]) } ?? "."
        _ = try make(of: path, in: folder) { part, output throws(FileError) in
            try output.sync()
            guard rename(part, target) == 0 else { throw FileError.system(errno, "renaming") }
            return target
        }
    }

    /// - Parameter place: gives the copy its name.
    private static func make(
        of path: String, in folder: String, _ place: (String, Descriptor) throws(FileError) -> String
    ) throws(FileError) -> String {
        let (source, size) = try Descriptor.openRegular(path)
        let part = "\(folder)/.kalij-\(getpid())-\(UInt32.random(in: .min ... .max)).part"
        let output = try Descriptor(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        do throws(FileError) {
            try copy(source, size, to: output)
            return try place(part, output)
        } catch {
            unlink(part)
            throw error
        }
    }

    private static func copy(_ source: Descriptor, _ size: Int64, to output: Descriptor) throws(FileError) {
        guard kalij_clone(output.number, source.number) != 0 else { return }
        var buffer = [UInt8](repeating: 0, count: SourceFile.chunk)
        var offset: Int64 = 0
        while offset < size {
            let count = try source.read(into: &buffer, at: offset)
            guard count > 0 else { throw FileError(.changed) }
            try output.write(buffer[..<count], at: offset)
            offset += Int64(count)
        }
    }
}
