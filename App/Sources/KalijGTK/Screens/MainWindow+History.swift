import KalijApp

extension MainWindow {
    /// The user has reached the oldest stored message: requests older ones of the server, once.
    func fetchOlder(before oldest: Int64?) {
        guard let oldest, oldest != fetchedBefore else { return }
        fetchedBefore = oldest
        fetchOlder()
    }

    /// Requests older messages of the open conversation.
    func fetchOlder() {
        guard let key = thread?.key else { return }
        Task {
            do { try await backend.loadOlder(key) } catch { toast(Words.notAccepted(Words.why(error))) }
            dirty.insert(key)
            look()
        }
    }
}
