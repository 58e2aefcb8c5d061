import TestSupport
import Testing

@testable import kalij

/// Lines of standard input, however the bytes arrive.
@Suite struct LineBufferTests {
    private func lines(_ text: String, pieces size: Int, longest: Int) -> [LineBuffer.Line] {
        var buffer = LineBuffer(longest: longest)
        var lines: [LineBuffer.Line] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            lines += buffer.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        if let last = buffer.end() { lines.append(last) }
        return lines
    }

    @Test("pieces of any size give the same lines; the last line needs no line feed", arguments: 1...12)
    func pieces(_ size: Int) {
        let expected: [LineBuffer.Line] = ["one", "", "four!", "é\r", "end"].map { .bytes(Array($0.utf8)) }
        #expect(lines("one\n\nfour!\né\r\nend", pieces: size, longest: 5) == expected)
        #expect(lines("one\n\nfour!\né\r\nend\n", pieces: size, longest: 5) == expected)
    }

    @Test("a line over the limit is told, and the next line is whole", arguments: 1...12)
    func tooLong(_ size: Int) {
        let expected: [LineBuffer.Line] = [.tooLong, .bytes(Array("five5".utf8)), .tooLong]
        #expect(lines("sixsix\nfive5\n" + String(repeating: "x", count: 100), pieces: size, longest: 5) == expected)
    }
}
