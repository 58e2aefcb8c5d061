import KalijXML

let streamHeader = """
    <?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' \
    id='s1' version='1.0' xml:lang='en'>
    """

/// The parser's events for a stream, in comparable form.
struct Heard: Equatable {
    var events: [String] = []
    var condition: String?

    init(_ chunks: [[UInt8]], limits: ParserLimits = .init(), finishing: Bool = false) {
        let parser = StreamParser(limits: limits)
        func hear(_ event: StreamParserEvent) {
            switch event {
            case .opened(let header): events.append("opened \(header.xml()) \(header.defaultNamespace ?? "-")")
            case .element(let element): events.append(element.xml())
            case .skipped(let skipped):
                events.append("skipped \(skipped.name) \(skipped.limit) \(skipped.byteCount) \(skipped.prefix.count)")
            case .closed: events.append("closed")
            }
        }
        do {
            for chunk in chunks { try parser.feed(chunk, hear) }
            if finishing { try parser.finish(hear) }
        } catch let error as XMLError {
            condition = error.condition
        } catch {
            condition = "\(error)"
        }
    }

    init(_ text: String, limits: ParserLimits = .init(), finishing: Bool = false) {
        self.init([Array(text.utf8)], limits: limits, finishing: finishing)
    }
}

func chunks(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
}
