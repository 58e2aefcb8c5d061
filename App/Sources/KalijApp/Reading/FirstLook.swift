import Dispatch
import Synchronization

/// The content of the first frame, read concurrently with the start of the program.
public final class FirstLook: Sendable {
    public struct Contents: Sendable {
        public let accounts: [String]
        /// The list, with its first rows read completely.
        public let list: ConversationList
    }

    private let contents = Mutex<Contents?>(nil)
    private let isRead = DispatchSemaphore(value: 0)

    /// Starts to read.
    public init(_ reader: Reader) {
        Task.detached(priority: .userInitiated) { [self] in
            let found = try? await reader.firstLook()
            contents.withLock { $0 = found }
            isRead.signal()
        }
    }

    /// Waits for the content; may be called once.
    /// - Returns: nil if it takes longer, or fails.
    public func contents(within limit: DispatchTimeInterval) -> Contents? {
        guard isRead.wait(timeout: .now() + limit) == .success else { return nil }
        return contents.withLock { $0 }
    }
}

extension Reader {
    func firstLook() throws -> FirstLook.Contents {
        let accounts = try addresses()
        var list = ConversationList()
        if !accounts.isEmpty {
            list.read(heads: try heads())
            list.read(try rows(list.wanted(0..<ConversationList.begin)))
        }
        return FirstLook.Contents(accounts: accounts, list: list)
    }
}
