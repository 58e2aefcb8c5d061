import CAdwaita
import KalijApp
import KalijClient

extension MainWindow {
    func connectSearch() {
        conversations.onSearch = { [weak self] words, place in self?.search(words, from: place) }
    }

    /// Reads the results for the words typed last.
    private func search(_ words: String, from place: SearchKey?) {
        guard !isSearching else { return }
        isSearching = true
        Task {
            let results = try? await reader.results(words, from: place)
            isSearching = false
            let now = conversations.model.search
            if let results { conversations.read(results, for: words, from: place) }
            if now != words, !now.isEmpty { search(now, from: nil) }
        }
    }

    /// Opens a conversation at a message, which is focused in the middle of the screen.
    func open(_ row: ConversationRow, found message: Int64) {
        Task {
            let row = (try? await reader.conversation(row.key)) ?? row
            await open(row, at: message, isFound: true)
        }
    }
}
