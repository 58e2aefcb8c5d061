import KalijXML

/// Our parser's result for a stream.
struct Parsed: Equatable {
    var dump = Dump()
    /// The condition of the error at the end.
    var condition: String?
    var text = ""
    /// The exceeded limits of stanzas.
    var skipped: [String] = []
    var isClosed = false

    /// Feeds a whole stream in chunks of `size` bytes.
    init(_ stream: [UInt8], by size: Int) {
        let parser = StreamParser()
        func hear(_ event: StreamParserEvent) {
            switch event {
            case .opened(let header): dump.add(header: header)
            case .element(let element): dump.add(element)
            case .skipped(let element): skipped.append(element.limit.rawValue)
            case .closed: isClosed = true
            }
        }
        do {
            try stream.withUnsafeBytes { bytes in
                var start = 0
                while start < bytes.count {
                    let end = min(start + size, bytes.count)
                    try parser.feed(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), hear)
                    start = end
                }
            }
            try parser.finish(hear)
        } catch let error as XMLError {
            condition = error.condition
            text = error.description
        } catch {
            condition = "\(error)"
        }
    }

    static let chunkSizes = [1, 7, 1_400, 65_536]
}

/// lxml's result for a stream.
struct Judged: Sendable {
    var accepted = false
    /// Parts that XMPP forbids, see `Programs/dump.py`.
    var flags = ""
    var dump: [UInt8] = []
    var message = ""

    /// Has lxml read each of the streams.
    static func all(_ streams: [[UInt8]]) async throws -> [Judged] {
        var questions: [UInt8] = []
        for stream in streams {
            questions.append(contentsOf: "\(stream.count)\n".utf8)
            questions.append(contentsOf: stream)
        }
        var reading = Reading(try await Reference.lxml.answers(questions))
        var results: [Judged] = []
        while !reading.isAtEnd {
            let words = try reading.line().split(separator: " ")
            let block = try reading.block(words.last.flatMap { Int($0) } ?? -1)
            if words.first == "+" {
                results.append(Judged(accepted: true, flags: String(words[1]), dump: block))
            } else {
                results.append(Judged(message: String(decoding: block, as: UTF8.self)))
            }
        }
        guard results.count == streams.count else {
            throw Reference.Failure(description: "\(streams.count) streams, \(results.count) answers")
        }
        return results
    }
}
