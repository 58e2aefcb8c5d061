import KalijXML
import Testing

/// "End of input inside an element is an error": it says so, and where the input ends.
@Suite struct EndOfInputTests {
    private func error(_ text: String, stream: Bool) -> XMLError? {
        do {
            if stream {
                let parser = StreamParser()
                try parser.feed(Array(text.utf8)) { _ in }
                try parser.finish { _ in }
            } else {
                _ = try Element.parse(text)
            }
            return nil
        } catch {
            return error as? XMLError
        }
    }

    @Test(
        "a document that ends too early",
        arguments: [
            ("", "the input is empty", 1, 1), (" ", "there is no element", 1, 1), ("<a>", "there is no element", 1, 1),
            ("<?xml version='1.0'?>", "there is no element", 1, 22),
            ("<abc>", "the input ends inside an element", 1, 6),
            ("<a>\n <b>x", "the input ends inside an element", 2, 6),
            ("<a>\n\n<b/>\n", "the input ends inside an element", 4, 1),
        ])
    func document(text: String, problem: String, line: Int, column: Int) {
        let error = error(text, stream: false)
        #expect(error?.text == problem)
        #expect(error?.condition == "not-well-formed")
        #expect((error?.line, error?.column) == (line, column))
    }

    @Test("a stream that ends too early")
    func stream() {
        #expect(error("", stream: true)?.text == "the input is empty")
        #expect(error(streamHeader, stream: true)?.text == "the input ends before the end tag of the stream")
        let cut = error(streamHeader + "<a/>\n<a>\n", stream: true)
        #expect(cut?.text == "the input ends inside an element")
        #expect(cut?.column == 1)
    }

    @Test("errors for other reasons keep their messages")
    func other() {
        #expect(error("<a/><b/>", stream: false)?.text.contains("Extra content") == true)
        #expect(error("<a>\n</b>", stream: false)?.text.contains("mismatch") == true)
    }
}
