/// News about a transfer.
public enum TransferEvent {
    /// PUT: how many bytes of the body were written to the connection so far. Four times a second at most, and at the seal.
    case progress(Int64)
    /// PUT: everything has been handed over except the last block, at most 16 KiB; the whole body if that small. Nothing
    /// of the block leaves, and so the PUT cannot be complete, before ``Transfer/releaseLastBlock()``.
    case seal
    /// The head of the final response (status 200 and up).
    case head(ResponseHead)
    /// The next bytes of a GET's body, for a status 200 or 206. Valid for the call only.
    case bytes(UnsafeRawBufferPointer)
    /// The end: always the last event, and exactly one unless cancelled.
    case ended(TransferEnd)
}

/// The end of a transfer.
public enum TransferEnd: Equatable, Sendable {
    /// The response has arrived: for a GET with 200 or 206 the whole of it, otherwise its head. Bodies of other
    /// responses are not read.
    /// - Parameters:
    ///   - sent: bytes of the PUT's body that were handed over; fewer than its length for a server that refuses early.
    ///   - received: bytes of the response's body.
    case finished(status: Int, sent: Int64, received: Int64)
    case failed(TransferFailure)
}
