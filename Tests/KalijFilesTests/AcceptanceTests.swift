import Foundation
import Glibc
import TestSupport
import Testing

@testable import KalijFiles

/// "the file as it was then is on the disk, synced" (media, promise 1)
@Suite
struct AcceptanceTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    @Test(
        "a copy has the bytes, the digest, a cleaned name, private permissions",
        arguments: [1, 65_535, 65_536, 200_001])
    func copies(count: Int) throws {
        let content = sample(count)
        let file = try accept(scratch.write(content, to: ".notes\u{202E}.txt"), in: scratch)
        #expect(try bytes(of: file.path) == content)
        #expect(try file.sha256 == reference(content))
        #expect(file.size == Int64(count) && file.name == "notes.txt" && file.mediaType == "text/plain")
        #expect(file.image == nil && !file.isStripped)
        let status = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(status[.posixPermissions] as? Int == 0o600 && status[.referenceCount] as? Int == 1)
        let folder = try FileManager.default.attributesOfItem(atPath: scratch.file("out"))
        #expect(folder[.posixPermissions] as? Int == 0o700)
        #expect(scratch.names(in: "out") == ["a"])
    }

    @Test("later changes of the original do not change the copy")
    func isACopy() throws {
        let path = try scratch.write(sample(1000), to: "x")
        let file = try accept(path, in: scratch)
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.write(contentsOf: Data("changed".utf8))
        try handle.close()
        #expect(try bytes(of: file.path) == sample(1000))
    }

    @Test(
        "what is no regular file is refused, without waiting for a writer",
        arguments: [
            "fifo", "socket", "folder", "/dev/zero", "/dev/null",
        ])
    func notRegular(name: String) throws {
        mkfifo(scratch.file("fifo"), 0o600)
        mkdir(scratch.file("folder"), 0o700)
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(number) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let place = Array(scratch.file("socket").utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: place) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        let error = #expect(throws: FileError(.notRegular)) {
            try accept(name.hasPrefix("/") ? name : scratch.file(name), in: scratch)
        }
        let words = ["fifo": "named pipe", "socket": "socket", "folder": "folder"]
        #expect(error?.description.contains(words[name] ?? "device") == true)
        #expect(scratch.names(in: "out").isEmpty)
    }

    @Test("a symbolic link to a file is followed; one to nowhere, or in a circle, is no file")
    func links() throws {
        let content = sample(10)
        let target = try scratch.write(content, to: "target.pdf")
        symlink(target, scratch.file("link"))
        symlink(scratch.file("nowhere"), scratch.file("dangling"))
        symlink(scratch.file("circle"), scratch.file("circle"))
        #expect(try bytes(of: accept(scratch.file("link"), in: scratch).path) == content)
        #expect(throws: FileError(.notFound)) { try accept(scratch.file("dangling"), in: scratch) }
        let error = #expect(throws: FileError(.notFound)) { try accept(scratch.file("circle"), in: scratch) }
        #expect(error?.detail.contains("circle") == true)
        #expect(throws: FileError(.notFound)) { try accept("", in: scratch) }
        #expect(throws: FileError(.notFound)) { try accept(target + "\0.txt", in: scratch) }
        #expect(throws: FileError(.notFound)) { try accept(target + "/below", in: scratch) }
    }

    /// "Size 0, over the cached `max-file-size`, or under 64 MiB of disk left: refused" (sending 1)
    @Test("sizes are judged, and named in the error")
    func sizes() throws {
        let empty = try scratch.write([], to: "empty")
        let small = try scratch.write(sample(100), to: "small")
        #expect(throws: FileError(.empty)) { try accept(empty, in: scratch) }
        let error = #expect(throws: FileError(.tooLarge)) { try accept(small, in: scratch, limit: 99) }
        #expect(error?.detail.contains("100 bytes") == true && error?.detail.contains("99") == true)
        #expect(throws: FileError(.diskFull)) { try accept(small, in: scratch, reserve: .max) }
        #expect(throws: FileError(.diskFull)) { try accept(small, in: scratch, reserve: 1 << 60) }
        #expect(scratch.names(in: "out").isEmpty)
        #expect(try accept(small, in: scratch, limit: 100, reserve: FileAcceptance.reserve).size == 100)
    }

    @Test(
        "an id is used once, and is no path",
        arguments: ["", "a/b", "..", "a.part", String(repeating: "a", count: 65), "ä"])
    func ids(id: String) throws {
        let path = try scratch.write(sample(10), to: "x")
        #expect(throws: FileError(.malformed)) { try accept(path, in: scratch, id: id) }
        let first = try accept(path, in: scratch, id: "one")
        #expect(throws: FileError(.nameTaken)) {
            try accept(scratch.write(sample(20), to: "y"), in: scratch, id: "one")
        }
        #expect(try bytes(of: first.path) == sample(10))
        #expect(scratch.names(in: "out") == ["one"])
    }

    enum Change: CaseIterable { case write, grow, shrink, remove, replace }

    @Test("a file that is changed while it is read is not accepted", arguments: Change.allCases, [false, true])
    func changes(change: Change, isImage: Bool) throws {
        let path = try scratch.write(isImage ? long(jpeg: 300_000) : sample(300_000), to: "x")
        let other = try scratch.write(sample(300_000), to: "other")
        var isDone = false
        #expect(throws: FileError(.changed)) {
            try accept(path, in: scratch) { _ in
                guard !isDone else { return }
                isDone = true
                switch change {
                case .write:
                    let file = open(path, O_WRONLY)
                    pwrite(file, "x", 1, 250_000)
                    close(file)
                case .grow: truncate(path, 400_000)
                case .shrink: truncate(path, 100_000)
                case .remove: unlink(path)
                case .replace: rename(other, path)
                }
            }
        }
        #expect(isDone && scratch.names(in: "out").isEmpty)
    }

    /// A JPEG whose scan has so many bytes.
    private func long(jpeg count: Int) -> [UInt8] {
        Array(Samples.jpeg.prefix(Samples.jpeg.count - 2)) + [UInt8](repeating: 7, count: count) + [0xFF, 0xD9]
    }

    @Test("a change right after the file was written is seen, too")
    func changedAtOnce() throws {
        for _ in 0..<20 {
            let path = try scratch.write(sample(100), to: "x")
            #expect(throws: FileError(.changed)) {
                try accept(path, in: scratch) { _ in
                    let file = open(path, O_WRONLY)
                    pwrite(file, "x", 1, 50)
                    close(file)
                }
            }
        }
    }

    @Test("a file without permission to read is refused", .enabled(if: geteuid() != 0, "root may read all files"))
    func permissions() throws {
        let path = try scratch.write(sample(10), to: "x")
        chmod(path, 0)
        #expect(throws: FileError(.notAllowed)) { try accept(path, in: scratch) }
    }

    @Test("a disk that becomes full in the middle is an error, and nothing is left")
    func fullDisk() throws {
        let disk = try SmallDisk(in: scratch)
        let path = try scratch.write(sample(600_000), to: "x")
        var isFilled = false
        let error = #expect(throws: FileError(.diskFull)) {
            try FileAcceptance.accept(path, as: "a", in: disk.path + "/out", false, limit: nil, reserve: 0) { offset in
                guard offset > 300_000, !isFilled else { return }
                isFilled = true
                let filler = open(disk.path + "/filler", O_WRONLY | O_CREAT, 0o600)
                while write(filler, [UInt8](repeating: 1, count: 4096), 4096) > 0 {}
                close(filler)
            }
        }
        #expect(isFilled && error?.description == "the disk is full")
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path + "/out").isEmpty)
        unlink(disk.path + "/filler")
        let early = #expect(throws: FileError(.diskFull)) {
            try FileAcceptance.accept(path, as: "a", in: disk.path + "/out", false, limit: nil, reserve: 500_000) { _ in
            }
        }
        #expect(early?.detail.contains("1100000") == true)
        let file = try FileAcceptance.accept(path, as: "a", in: disk.path + "/out", false, limit: nil, reserve: 0) {
            _ in
        }
        #expect(try bytes(of: file.path) == sample(600_000))
    }

    @Test("the media type comes from the first bytes, then from the name")
    func mediaTypes() throws {
        let types: [(String, [UInt8], String)] = [
            ("a.txt", Samples.jpeg, "image/jpeg"), ("a", Samples.png, "image/png"), ("b.gif", Samples.gif, "image/gif"),
            ("c.dat", Samples.lossyWebP, "image/webp"), ("d", Array("ID3".utf8), "audio/mpeg"),
            ("e.TXT", sample(10), "text/plain"), ("f", sample(10), "application/octet-stream"),
            ("g.m4a", [0, 0, 0, 24] + Array("ftypmp42".utf8), "audio/mp4"),
            ("h.bin", [0, 0, 0, 24] + Array("ftypheic".utf8), "image/heic"),
            ("i.jpg", sample(10), "application/octet-stream"), ("j", Array("%PDF-1.7".utf8), "application/pdf"),
        ]
        for (name, content, type) in types {
            #expect(MediaType.of(Array(content.prefix(64)), named: name) == type, "\(name)")
        }
    }
}

/// A disk of 1 MiB in memory, which ends with its holder.
final class SmallDisk {
    let path: String
    private let holder: Process

    init(in scratch: ScratchDirectory) throws {
        let folder = scratch.file("disk")
        mkdir(folder, 0o700)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        let script = "mount -t tmpfs -o size=1m,mode=700 none \"$0\" && echo mounted && exec sleep 60"
        process.arguments = [geteuid() == 0 ? "-m" : "-rm", "sh", "-c", script, folder]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        holder = process
        path = "/proc/\(process.processIdentifier)/root\(folder)"
        try #require(String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self) == "mounted\n")
    }

    deinit {
        kill(holder.processIdentifier, SIGKILL)
        holder.waitUntilExit()
    }
}
