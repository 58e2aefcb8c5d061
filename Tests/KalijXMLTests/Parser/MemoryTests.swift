import Foundation
import KalijXML
import TestSupport
import Testing

#if compiler(>=6.2) && os(Linux)
    /// "Peak memory is at most 12 times the stanza limit." Each measurement runs in a process of its own, so nothing
    /// else raises the memory, and the process gives nothing back. `make -C Benchmarks memory` does the same over gigabytes.
    @Suite(.serialized) struct MemoryTests {
        static let limit = 12 * 1_024

        @Test("a stream of 24 MB costs no more than a stream of 1 MB, within 2 MB")
        func longStream() async {
            await #expect(processExitsWith: .success) {
                let reader = Reader()
                let stanzas = String(
                    repeating:
                        "<message id='1' to='a@b'><body>\(String(repeating: "text ", count: 100))</body></message>",
                    count: 100)
                let grown = reader.growth {
                    for round in 0..<400 {
                        reader.feed(stanzas)
                        if round == 17 { reader.mark() }
                    }
                }
                reader.end(ifAtMost: 2_048, grown)
            }
        }

        @Test("100,000 stanzas without repeated names: memory is flat")
        func newNames() async {
            await #expect(processExitsWith: .success) {
                let reader = Reader()
                let grown = reader.growth {
                    for number in 0..<1_000 {
                        if number == 100 { reader.mark() }
                        let names = (0..<100).map { number * 100 + $0 }
                        reader.feed(names.map { "<a\($0) xmlns='urn:x:\($0)' b\($0)='1'/>" }.joined())
                    }
                }
                reader.end(ifAtMost: 2_048, grown)
            }
        }

        @Test("one hostile attribute of 15 MB")
        func attribute() async {
            await #expect(processExitsWith: .success) {
                let reader = Reader()
                let piece = String(repeating: "y&amp;>", count: 5_000)
                let grown = reader.growth {
                    reader.feed("<m a='")
                    for _ in 0..<420 { reader.feed(piece) }
                    reader.feed("' b='c'/><after/>")
                }
                reader.end(ifAtMost: MemoryTests.limit, grown, skipped: 1)
            }
        }

        @Test("elements nested as deep as a stanza of 1 MiB can be")
        func nested() async {
            await #expect(processExitsWith: .success) {
                let reader = Reader()
                let (down, up) = (String(repeating: "<a>", count: 10_000), String(repeating: "</a>", count: 10_000))
                let grown = reader.growth {
                    for _ in 0..<15 { reader.feed(down) }
                    for _ in 0..<15 { reader.feed(up) }
                }
                reader.end(ifAtMost: MemoryTests.limit, grown, skipped: 1)
            }
        }

        @Test("as many names as a stanza of 1 MiB can hold")
        func names() async {
            await #expect(processExitsWith: .success) {
                let reader = Reader()
                let grown = reader.growth {
                    reader.feed("<m>")
                    for start in stride(from: 0, to: 170_000, by: 1_000) {
                        reader.feed((start..<(start + 1_000)).map { "<\(Reader.name($0))/>" }.joined())
                    }
                    reader.feed("</m>")
                }
                reader.end(ifAtMost: MemoryTests.limit, grown, skipped: 1)
            }
        }

        @Test("elements and attributes up to every limit, none over it")
        func full() async {
            await #expect(processExitsWith: .success) {
                let reader = Reader()
                let row = "<a>\(String(repeating: "<b c='d'/>", count: 3_000))</a>"
                let grown = reader.growth {
                    for _ in 0..<4 {
                        reader.feed("<m>")
                        for _ in 0..<20 { reader.feed(row) }
                        reader.feed("</m>")
                    }
                }
                reader.end(ifAtMost: MemoryTests.limit, grown, skipped: 0)
            }
        }
    }

    /// Reads a stream in chunks of 1,400 bytes, and keeps the last stanza.
    private final class Reader {
        private let parser = StreamParser()
        private var kept: Element?
        private var skipped = 0
        private var failure: String?
        private var start = 0

        init() {
            // What was allocated once stays: the memory at the end is its peak.
            let set = dlsym(nil, "mallopt").map {
                unsafeBitCast($0, to: (@convention(c) (Int32, Int32) -> Int32).self)
            }
            let (trimThreshold, mostMaps): (Int32, Int32) = (-1, -4)
            _ = set?(mostMaps, 0)
            _ = set?(trimThreshold, .max)
            // The one-time work of every process.
            feed(streamHeader + "<message><body>x</body></message>")
        }

        /// A name of few letters.
        static func name(_ number: Int) -> String {
            let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
            var (text, rest) = ("", number)
            repeat {
                text.append(letters[rest % letters.count])
                rest /= letters.count
            } while rest > 0
            return text
        }

        func feed(_ text: String) {
            guard failure == nil else { return }
            do {
                for chunk in chunks(Array(text.utf8), of: 1_400) {
                    try parser.feed(chunk) { event in
                        if case .element(let element) = event { kept = element }
                        if case .skipped = event { skipped += 1 }
                    }
                }
            } catch {
                failure = "\(error)"
            }
        }

        func mark() { start = Reader.memory() }

        func growth(_ body: () -> Void) -> Int {
            mark()
            body()
            return Reader.memory() - start
        }

        /// Ends the process.
        func end(ifAtMost limit: Int, _ grown: Int, skipped wanted: Int = 0) -> Never {
            if grown > limit || failure != nil || skipped != wanted || kept == nil {
                FileHandle.standardError.write(
                    Data("grown \(grown) kB, limit \(limit), skipped \(skipped), \(failure ?? "no error")\n".utf8))
                exit(1)
            }
            exit(0)
        }

        /// The process's own memory, in kB: no file's pages.
        private static func memory() -> Int {
            let status = (try? systemFile("/proc/self/status")) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon") } ?? ""
            return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? .max
        }
    }
#endif
