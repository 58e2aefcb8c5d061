import CLibXML2

extension ParserState {
    /// Describes that, and where, the input ended too early; libxml2 reports "extra content" in all these cases.
    mutating func explainEnd(_ context: Context) {
        guard var error = failure, UInt32(bitPattern: context.pointee.errNo) == XML_ERR_DOCUMENT_END.rawValue,
            depth > 0 || (previousEnd == 0 && origin.header.isEmpty)
        else { return }
        if depth == 0 {
            error.text = fed == 0 ? "the input is empty" : "there is no element"
            failure = error
            return
        }
        if depth <= outer {
            error.text = "the input ends before the end tag of the stream"
        } else {
            error.text = "the input ends inside an element"
        }
        // The bytes not yet parsed are the beginning of a tag.
        if let input = context.pointee.input, let current = input.pointee.cur, let end = input.pointee.end {
            let rest = UnsafeBufferPointer(start: current, count: max(end - current, 0))
            let lines = rest.count { $0 == UInt8(ascii: "\n") }
            error.line = line(context) + lines
            let last = rest.reversed().prefix { $0 != UInt8(ascii: "\n") }.count
            error.column = lines > 0 ? last + 1 : max(Int(input.pointee.col), 1) + last
        }
        failure = error
    }
}
