import CLibXML2

extension StreamParser {
    /// Refuses a beginning that XML in UTF-8 cannot have. `bytes` are the next bytes.
    ///
    /// libxml2 would guess another encoding from such bytes, convert, and report a failure only on the standard error
    /// stream.
    func judgeBeginning(_ bytes: UnsafeRawBufferPointer) {
        guard state.pointee.fed < 2, let context = state.pointee.context else { return }
        for (place, byte) in zip(state.pointee.fed..<2, bytes) {
            switch (place, byte) {
            // The marks of UTF-16 and UTF-32, and zeros around a "<".
            case (0, 0xFE), (0, 0xFF), (_, 0):
                state.pointee.fail(context, "unsupported-encoding", "another encoding than UTF-8")
            // UTF-8 has a mark, too. A document may begin with the mark; a stream may not, which is found later.
            case (0, UInt8(ascii: "<")), (0, 0x20), (0, 0x09), (0, 0x0A), (0, 0x0D), (0, 0xEF), (1, _): break
            default: state.pointee.fail(context, "not-well-formed", "expected \"<\" at the beginning")
            }
        }
    }
}
