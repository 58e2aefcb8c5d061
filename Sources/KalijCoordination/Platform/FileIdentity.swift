import Glibc

/// A file, whatever path leads to it: inode numbers alone repeat on every file system.
struct FileIdentity: Equatable {
    private let device: dev_t
    let inode: ino_t

    /// The file at `path`, after all links; nil if there is none.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }
}
