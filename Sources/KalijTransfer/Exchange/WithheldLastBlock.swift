/// The body of a PUT, as passed to libcurl; nothing of its last block is sent before ``release()``.
final class WithheldLastBlock {
    /// Of the last block, in bytes.
    static let lastBlock: Int64 = 16 * 1024

    enum Portion {
        case bytes(Int)
        /// Nothing for now.
        case held
        /// With the reason.
        case failed(String)
    }

    let length: Int64
    private(set) var handed: Int64 = 0
    private let body: any UploadBody
    /// Where the last block begins.
    private let boundary: Int64
    private var isSealed = false
    private var isReleased = false
    private var (nextProgress, reported) = (0.0, Int64(0))

    init(_ body: any UploadBody) {
        self.body = body
        length = body.length
        boundary = max(0, length - Self.lastBlock)
    }

    var isComplete: Bool { handed == length }
    /// The caller is to be notified.
    var isAtSeal: Bool { handed == boundary && !isSealed }
    /// Waits for the release.
    var isHeld: Bool { isSealed && !isReleased }

    func seal() { isSealed = true }

    /// - Returns: whether something was held.
    func release() -> Bool {
        guard isHeld else { return false }
        isReleased = true
        return true
    }

    /// Whether to notify the caller of `count` written bytes, four times a second and at the end.
    func isProgressDue(_ count: Int64, now: Double) -> Bool {
        guard count > reported, now >= nextProgress || count == length else { return false }
        (nextProgress, reported) = (now + 0.25, count)
        return true
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Portion {
        if isComplete { return .bytes(0) }
        if handed >= boundary, !isReleased { return .held }
        let room = Int(min(Int64(buffer.count), (handed < boundary ? boundary : length) - handed))
        do {
            let count = try body.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]))
            guard (1...room).contains(count) else { return .failed("the file is shorter than it was") }
            handed += Int64(count)
            return .bytes(count)
        } catch {
            return .failed("the file cannot be read: \(error)")
        }
    }
}
