import Glibc
import KalijStore

@testable import KalijFeatures

/// The index of texts as `SearchText` cuts them, beside an index of the same texts as FTS5 alone cuts them: size, time to fill, time to find.
struct Searching {
    private static let words = [
        "what", "light", "through", "yonder", "window", "breaks", "it", "is", "the", "east", "機能", "追加", "会議", "資料",
        "明日", "確認",
        "권리를", "모든", "사람은", "자유롭게", "ประชุม", "วันนี้", "เอกสาร", "🎉", "👍",
    ]
    private static let scripts = [0..<10, 0..<10, 0..<10, 10..<16, 16..<20, 20..<23]
    private static let searched = ["window", "機能", "会議資料", "권리", "ประชุม", "🎉"]

    /// A text of 12 words of one script, and a sign in each tenth.
    private static func text(_ number: Int) -> String {
        var state = UInt64(number) &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let script = scripts[number % scripts.count]
        let spaces = script.lowerBound == 0 || script.lowerBound == 16 ? " " : ""
        let text = (0..<12).map { _ -> String in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return words[script.lowerBound + Int(state >> 33) % script.count]
        }.joined(separator: spaces)
        return text + " \(number)" + (number % 10 == 0 ? " " + words[23 + number / 10 % 2] : "")
    }

    /// - Parameters:
    ///   - folder: a new folder for both databases.
    ///   - count: how many texts.
    static func run(in folder: String, _ count: Int) throws {
        guard mkdir(folder, 0o700) == 0 else {
            print("\(folder) is there already")
            exit(73)
        }
        let cut = "\"unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'\""
        for (name, tokenizer, index) in [
            ("FTS5 alone", "'unicode61 remove_diacritics 2'", { $0 }), ("SearchText", cut, SearchText.indexed),
        ] as [(String, String, (String) -> String)] {
            let path = "\(folder)/\(name.split(separator: " ")[0]).db"
            let database = try Database(path: path, durability: .process)
            try database.execute(
                "CREATE VIRTUAL TABLE texts USING fts5(body, content='', columnsize=0, tokenize=\(tokenizer))")
            let begin = seconds()
            for first in stride(from: 0, to: count, by: 250) {
                try database.transaction {
                    for number in first..<min(first + 250, count) {
                        try database.run(
                            "INSERT INTO texts(rowid, body) VALUES (?, ?)",
                            [.integer(Int64(number + 1)), .text(index(text(number)))])
                    }
                }
            }
            let filled = seconds() - begin
            try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            var status = stat()
            stat(path, &status)
            print("\(name): \(count) texts, \(status.st_size / 1_000_000) MB, filled in \(rounded(filled)) s of CPU")
            for word in searched { try find(word, in: database, isCut: name == "SearchText") }
        }
    }

    private static func find(_ word: String, in database: Database, isCut: Bool) throws {
        let expression = isCut ? SearchText.expressions(for: word).joined(separator: " ") : "\"\(word)\""
        var times: [Double] = []
        var found: Int64 = 0
        for _ in 0..<11 {
            let begin = seconds()
            found =
                try database.prepare(
                    "SELECT count(*) FROM (SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid DESC LIMIT 100)"
                )
                .first([.text(expression)]) { $0.integer() } ?? 0
            times.append(seconds() - begin)
        }
        print("    \(word): \(found) of the first 100 in \(rounded(times.sorted()[5] * 1000)) ms")
    }

    private static func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }

    /// Of the processor.
    private static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
