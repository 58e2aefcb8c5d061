import Glibc
import KalijClient

/// The content of a picture that the user has chosen.
public enum PictureBytes {
    /// - Returns: nil if the file cannot be read, or is larger than a picture may be.
    public static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: SetProfile.largestAvatar + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard count > 0, count < bytes.count, ferror(file) == 0 else { return nil }
        return Array(bytes[..<count])
    }
}
