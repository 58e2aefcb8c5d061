import KalijXML
import Testing

@Suite struct StreamParserTests {
    @Test("a stream is its header, its top-level elements and its end")
    func stream() {
        let heard = Heard(
            streamHeader + " <message to='a@b'><body>1 &lt; 2 &amp; &#x20AC;</body></message>\n\n"
                + "<stream:features/><a/></stream:stream>", finishing: true)
        #expect(
            heard.events == [
                "opened <stream xmlns='http://etherx.jabber.org/streams' id='s1' version='1.0' xml:lang='en'/>"
                    + " jabber:client",
                "<message xmlns='jabber:client' to='a@b'><body>1 &lt; 2 &amp; \u{20AC}</body></message>",
                "<features xmlns='http://etherx.jabber.org/streams'/>", "<a xmlns='jabber:client'/>", "closed",
            ])
        #expect(heard.condition == nil)
    }

    @Test("the same tree whatever the chunking: every input split at every byte")
    func splitting() {
        for input in splitInputs {
            let bytes = Array((streamHeader + input).utf8)
            let whole = Heard([bytes])
            for place in 0...bytes.count {
                #expect(Heard([Array(bytes[..<place]), Array(bytes[place...])]) == whole, "\(input) at \(place)")
            }
            for size in [1, 2, 3, 7] { #expect(Heard(chunks(bytes, of: size)) == whole, "\(input) by \(size)") }
        }
    }

    private var splitInputs: [String] {
        let long = String(repeating: "long text ", count: 70)
        return [
            "<a>x<b/>y<c>z</c>w</a>", "<a b='1' c=\"2'\" d='&quot;>&apos;'/>", "<a>&#13;\r\n\r\r\n&#x1F600;</a>",
            "<a><![CDATA[x]]y]]]></a><b/>", "<a><![CDATA[]]></a>",
            "<p:a xmlns:p='u' p:b='1' b='2'><p:c xmlns=''/></p:a>",
            "<a>\(long)]]></a>", "<a>\(long)]]</a>", "<a>\(long)é]]></a><b/>", "<a>]]&gt;</a>", "<a>\(long)€😀</a>",
            "<a>&undefined;</a>", "<a>& x</a>", "<!-- x -->", "<a><?x y?></a>", "<a><b></a>", "<p:a/>",
            "<a x='1' x='2'/>",
            "<a>\u{1}</a>", "<a \n b = 'x\ty\nz' />", "</stream:stream>", "text", "<a x='<'/>", "<a xml:lang='de'/>\r",
            "<![CDATA[x]]>", "<a>\(long)<![CDATA[\(long)]]>\(long)</a>",
        ]
    }

    @Test("restart may be called inside the closure: the rest of the chunk is dropped")
    func restart() throws {
        let parser = StreamParser()
        var names: [String] = []
        func hear(_ event: StreamParserEvent) {
            if case .element(let element) = event {
                names.append(element.name)
                if element.name == "proceed" { parser.restart() }
            }
        }
        try parser.feed(Array((streamHeader + "<proceed/><dropped/>").utf8), hear)
        try parser.feed(Array((streamHeader + "<a/></stream:stream>").utf8), hear)
        try parser.finish(hear)
        #expect(names == ["proceed", "a"])
    }

    @Test(
        "after the expected element the rest is a new stream, whatever the cuts between chunks",
        arguments: 1...200)
    func expectedRestart(size: Int) throws {
        let parser = StreamParser()
        parser.expectRestart(after: "success", "urn:sasl")
        var heard: [String] = []
        func hear(_ event: StreamParserEvent) {
            switch event {
            case .opened: heard.append("opened")
            case .element(let element): heard.append(element.name)
            case .skipped, .closed: heard.append("?")
            }
        }
        let first = streamHeader + "<success/><a>]]</a><success xmlns='urn:sasl'>dj0=</success>"
        // Only once: the second stream has such an element, too.
        let second = streamHeader + "<features/><success xmlns='urn:sasl'/><resumed xmlns='urn:xmpp:sm:3'/>"
        for chunk in chunks(Array((first + second).utf8), of: size) { try parser.feed(chunk, hear) }
        #expect(heard == ["opened", "success", "a", "success", "opened", "features", "success", "resumed"])
    }

    @Test("white space after the expected element is of neither stream; garbage there is an error of the new stream")
    func afterExpected() throws {
        for (rest, isFine) in [(" \r\n", true), (String(repeating: " ", count: 40_000), true), ("x", false)] {
            let parser = StreamParser()
            parser.expectRestart(after: "b", "jabber:client")
            var names: [String] = []
            func hear(_ event: StreamParserEvent) {
                if case .element(let element) = event { names.append(element.name) }
            }
            let text = streamHeader + "<b/>" + rest + streamHeader + "<c/>"
            let isRead = (try? parser.feed(Array(text.utf8), hear)) != nil
            #expect(isRead == isFine)
            #expect(names == (isFine ? ["b", "c"] : ["b"]))
        }
    }
}
