import Foundation
import Glibc
import TestSupport
import Testing

@testable import KalijFiles

/// "no separators, controls, bidi controls, leading dots; 120 bytes; O_EXCL with a number; 0600" (media, receiving 17)
struct NameTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    @Test(
        "a name becomes harmless",
        arguments: [
            ("photo.jpg", "photo.jpg"), ("../../etc/passwd", "passwd"), ("..", "file"), (".", "file"), ("", "file"),
            ("/", "file"), ("a/", "file"), ("C:\\Windows\\a.exe", "a.exe"), (".bashrc", "bashrc"), ("...x", "x"),
            ("  x  ", "x"), ("x. . .", "x"), (". .x", "x"), ("a\u{0}b\n\u{7F}\u{85}c", "abc"), ("-rf", "_rf"),
            ("gpj.\u{202E}cod.exe", "gpj.cod.exe"), ("a\u{200B}\u{FEFF}\u{2066}b", "ab"),
            ("a\u{2028}b\u{2029}c", "abc"),
            ("\u{200E}.\u{200F}x", "x"), ("a\u{3000}b\u{A0}c", "a b c"), ("CON", "_CON"), ("con.txt", "_con.txt"),
            ("CON.tar.gz", "_CON.tar.gz"), ("nul ", "_nul"), ("COM1.x", "_COM1.x"), ("com\u{B9}", "_com\u{B9}"),
            ("lpt9 .x", "_lpt9 .x"), ("CONSOLE", "CONSOLE"), ("COM10", "COM10"),
            ("a:b*c?d\"e<f>g|h", "a_b_c_d_e_f_g_h"),
            ("\u{3164}", "file"), ("\u{E0041}\u{115F}", "file"), ("Ünïcödé 日本語.txt", "Ünïcödé 日本語.txt"),
            ("a\u{301}.txt", "a\u{301}.txt"), ("x.\u{301}y", "x.\u{301}y"), ("-\u{301}rf", "_\u{301}rf"),
            ("\u{10FFFF}\u{378}a", "a"),
        ])
    func cleaned(suggested: String, name: String) {
        #expect(UniqueFilename.cleaned(suggested) == name)
        #expect(UniqueFilename.cleaned(name) == name)
    }

    @Test("a long name is cut between characters, and keeps its extension")
    func long() {
        let family = "👨‍👩‍👧"
        for text in [
            String(repeating: "😀", count: 75), String(repeating: "a", count: 300), String(repeating: "é", count: 200),
            String(repeating: family, count: 20), "a" + String(repeating: "\u{301}", count: 500),
            String(repeating: "日本", count: 100_000), "CON." + String(repeating: "a", count: 300),
            "-" + String(repeating: "😀", count: 75), String(repeating: "a ", count: 100),
            String(repeating: "a.", count: 100), String(repeating: "a", count: 119) + ". b",
        ] {
            for end in ["", ".jpeg", ".extension-that-is-too-long-to-be-one"] {
                let name = UniqueFilename.cleaned(text + end)
                #expect(name.utf8.count <= 120 && name.utf8.count > 100, "\(name)")
                #expect(!name.unicodeScalars.contains("\u{FFFD}"))
                if end == ".jpeg", text.count < 1000 { #expect(name.hasSuffix(".jpeg"), "\(name)") }
                #expect(UniqueFilename.cleaned(name) == name)
            }
        }
        #expect(
            UniqueFilename.cleaned(String(repeating: "😀", count: 75) + ".png") == String(repeating: "😀", count: 29)
                + ".png")
    }

    @Test("all scalars of Unicode: the result can be a name, and is its own cleaned form")
    func everyScalar() {
        // All of the first 16,384, and of those that are named alike each 97th.
        for value in UInt32(0)...0x10FFFF
        where RandomInput.isLong || value < 0x4000 || 0xD700..<0x1_0100 ~= value || 0xE_0000..<0xE_0200 ~= value
            || value % 97 == 0
        {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let name = UniqueFilename.cleaned("\(scalar)")
            let isClean = !name.isEmpty && !name.utf8.contains { $0 < 0x20 || $0 == 0x2F || $0 == 0x5C || $0 == 0x7F }
            if !isClean || UniqueFilename.cleaned(name) != name {
                Issue.record("U+\(String(value, radix: 16)) gives \(name)")
            }
        }
    }

    @Test("a taken name gets a number, and nothing is overwritten")
    func placing() throws {
        for (number, name) in ["x.tar", "x (2).tar", "x (3).tar"].enumerated() {
            let part = try scratch.write([UInt8(number)], to: "part")
            chmod(part, 0o644)
            let path = try UniqueFilename.place(part, named: "../x.tar", in: scratch.path)
            #expect(path == scratch.file(name))
            #expect(try bytes(of: path) == [UInt8(number)] && access(part, F_OK) != 0)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        // A link that leads nowhere is a taken name, too.
        symlink(scratch.file("nowhere"), scratch.file("y"))
        let path = try UniqueFilename.place(scratch.write([1], to: "part"), named: "y", in: scratch.path)
        #expect(path == scratch.file("y (2)"))
        #expect(access(scratch.file("nowhere"), F_OK) != 0)
    }

    @Test("a part that is missing, a link, or a folder is not placed; a failure leaves the part")
    func refused() throws {
        #expect(throws: FileError(.notFound)) {
            try UniqueFilename.place(scratch.file("none"), named: "x", in: scratch.path)
        }
        let part = try scratch.write([1], to: "part")
        symlink(part, scratch.file("link"))
        #expect(throws: FileError.self) { try UniqueFilename.place(scratch.file("link"), named: "x", in: scratch.path) }
        #expect(throws: FileError(.notRegular)) { try UniqueFilename.place(scratch.path, named: "x", in: scratch.path) }
        #expect(throws: FileError(.notFound)) {
            try UniqueFilename.place(part, named: "x", in: scratch.file("nowhere"))
        }
        let disk = try SmallDisk(in: scratch)
        #expect(throws: FileError(.otherDisk)) { try UniqueFilename.place(part, named: "x", in: disk.path) }
        #expect(try bytes(of: part) == [1])
    }

    @Test("where the system cannot rename without overwriting, a second name does the same")
    func linking() throws {
        let part = try scratch.write([1], to: "part")
        let taken = try scratch.write([2], to: "taken")
        #expect(try !AtomicRename.link(part, taken))
        #expect(try bytes(of: taken) == [2])
        #expect(try AtomicRename.link(part, scratch.file("new")))
        #expect(try bytes(of: scratch.file("new")) == [1] && access(part, F_OK) != 0)
    }
}
