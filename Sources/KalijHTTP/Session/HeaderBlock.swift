import CNghttp2

/// A request's fields in nghttp2's form.
enum HeaderBlock {
    /// Lends the fields for the call; nghttp2 copies them.
    static func withBlock<Result>(
        of request: HTTPRequest, authority: String, _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Result
    ) -> Result {
        var bytes: [UInt8] = []
        var lengths: [(name: Int, value: Int)] = []
        bytes.reserveCapacity(1024)
        lengths.reserveCapacity(request.fields.count + 4)
        func add(_ name: String, _ value: String) {
            let before = bytes.count
            bytes.append(contentsOf: name.utf8)
            let between = bytes.count
            bytes.append(contentsOf: value.utf8)
            lengths.append((between - before, bytes.count - between))
        }
        add(":method", request.method)
        add(":scheme", "https")
        add(":authority", authority)
        add(":path", request.path)
        for field in request.fields { add(field.name, field.value) }
        return bytes.withUnsafeMutableBufferPointer { bytes in
            var position = 0
            let fields = lengths.map { length in
                defer { position += length.name + length.value }
                // Points into the buffer lent for this call.
                let name = bytes.baseAddress.map { $0 + position }
                return nghttp2_nv(
                    name: name, value: name.map { $0 + length.name }, namelen: length.name, valuelen: length.value,
                    flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
            }
            return fields.withUnsafeBufferPointer(body)
        }
    }
}
