import KalijXML
import Testing

/// RFC 6120 section 11: XML forbidden in XMPP, each case with its condition of section 4.9.3.
@Suite struct RefusalTests {
    @Test(
        "comments, processing instructions, DTDs and entities are restricted XML (11.1)",
        arguments: [
            "<!-- c --><a/>", "<a><!-- c --></a>", "<?pi x?>", "<a><?pi x?></a>", "<a>&foo;</a>", "<a b='&foo;'/>",
        ])
    func restricted(_ text: String) {
        let heard = Heard(streamHeader + text)
        #expect(heard.condition == "restricted-xml", "\(text)")
        #expect(heard.events.count == 1)
    }

    @Test("a document type declaration is restricted XML, with and without an internal subset")
    func declaration() {
        for text in ["<!DOCTYPE a>", "<!DOCTYPE a [<!ENTITY x 'y'>]>", "<!DOCTYPE a SYSTEM 'http://x/y.dtd'>"] {
            #expect(
                Heard("<?xml version='1.0'?>" + text + "<stream xmlns='u'/>").condition == "restricted-xml", "\(text)")
        }
    }

    @Test(
        "XML that is not well-formed (11.3), namespaces included",
        arguments: [
            "<a>", "<a></b>", "<a b='1' b='2'/>", "<a b=1/>", "<a b='<'/>", "<a>]]></a>", "<a>\u{1}</a>", "<a>&#1;</a>",
            "<p:a/>", "<a p:b='1'/>", "<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>", "<a xmlns:xml='u'/>",
            "<a xmlns:xmlns='u'/>", "<a xmlns:p=''/>", "<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>",
            "<a:b:c/>", "<1/>",
            "</a>", "<a & b/>", "<a><![CDATA[x</a>",
        ])
    func malformed(_ text: String) {
        let heard = Heard(streamHeader + text, finishing: true)
        #expect(heard.condition == "not-well-formed", "\(text)")
        #expect(heard.events.count == 1, "\(text)")
    }

    @Test("another encoding than UTF-8 (11.6)")
    func encodings() {
        let header = "<stream xmlns='u'>"
        #expect(Heard("<?xml version='1.0' encoding='ISO-8859-1'?>" + header).condition == "unsupported-encoding")
        #expect(Heard("<?xml version='1.0' encoding='UTF-16'?>" + header).condition == "unsupported-encoding")
        #expect(Heard("<?xml version='1.0' encoding='nonsense'?>" + header).condition == "unsupported-encoding")
        #expect(Heard("<?xml version='1.0' encoding='utf-8'?>" + header).condition == nil)
        let wide: [UInt8] = [0xFF, 0xFE] + header.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        #expect(Heard([wide]).condition == "unsupported-encoding")
        for bad: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x28, 0xA1]] {
            let text = Array((header + "<a>").utf8) + bad + Array("</a>".utf8)
            #expect(Heard([text]).condition == "unsupported-encoding", "\(bad)")
            let attribute = Array((header + "<a b='").utf8) + bad + Array("'/>".utf8)
            #expect(Heard([attribute]).condition == "unsupported-encoding", "\(bad)")
        }
    }

    @Test("other encodings are found without a declaration, too (11.6)")
    func encodingMarks() {
        let header = "<?xml version='1.0'?><stream xmlns='u'>"
        let units = Array(header.utf16)
        let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let wide = header.unicodeScalars.flatMap { [0, 0, 0, UInt8($0.value)] as [UInt8] }
        for bytes in [little, big, [0xFF, 0xFE] + little, [0xFE, 0xFF] + big] {
            for size in [1, 3, 4_096] {
                #expect(
                    Heard(chunks(bytes, of: size), finishing: true).condition == "unsupported-encoding",
                    "\(bytes.prefix(4))")
            }
        }
        // Unused encodings, four bytes a character and EBCDIC, are treated like input that is not XML.
        for bytes in [wide, [0x4C, 0x6F, 0xA7, 0x94, 0x93]] {
            for size in [1, 3, 4_096] { #expect(Heard(chunks(bytes, of: size), finishing: true).condition != nil) }
        }
        // "MUST interpret that character as a zero width no-break space, not as a byte order mark"
        for size in [1, 4_096] {
            #expect(Heard(chunks([0xEF, 0xBB, 0xBF] + Array(header.utf8), of: size)).condition == "not-well-formed")
        }
        #expect(Heard(streamHeader + "\u{FEFF}<a/>").condition == "bad-format")
        #expect(Heard(streamHeader + "<a>\u{FEFF}</a>").condition == nil)
    }

    @Test("an XML declaration may say standalone and version 1.0, and stand first only")
    func declarations() {
        let stream = "<stream xmlns='u'>"
        for declaration in [
            "<?xml version='1.0' standalone='yes'?>", "<?xml version=\"1.0\" encoding='UTF-8' standalone='no' ?>\n",
        ] {
            #expect(Heard(declaration + stream + "<a/>").events == ["opened <stream xmlns='u'/> u", "<a xmlns='u'/>"])
        }
        #expect(Heard(" <?xml version='1.0'?>" + stream).condition == "not-well-formed")
        #expect(Heard(stream + "<?xml version='1.0'?>").condition == "not-well-formed")
        #expect(Heard(stream + "<a><?xml version='1.0'?></a>").condition == "not-well-formed")
        #expect(Heard("<?xml encoding='UTF-8'?>" + stream).condition == "not-well-formed")
    }

    @Test("any declared prefix is understood; an undeclared prefix is not well-formed (4.8.5, 4.9.3.13, 11.3)")
    func prefixes() {
        let stream = "<foobar:stream xmlns:foobar='http://etherx.jabber.org/streams' xmlns:c='jabber:client'>"
        let heard = Heard(
            stream + "<c:message><c:body>x</c:body></c:message><foobar:features/></foobar:stream>", finishing: true)
        #expect(heard.condition == nil)
        #expect(heard.events[1] == "<message xmlns='jabber:client'><body>x</body></message>")
        #expect(heard.events[2] == "<features xmlns='http://etherx.jabber.org/streams'/>")
        #expect(
            Heard(streamHeader + "<message><foo:body>What is this foo?</foo:body></message>").condition
                == "not-well-formed")
    }

    @Test(
        "the header itself may be refused",
        arguments: [
            ("<!-- x --><stream>", "restricted-xml"), ("<?x y?><stream>", "restricted-xml"),
            ("<!DOCTYPE stream><stream>", "restricted-xml"),
            ("<stream a='&b;'>", "restricted-xml"), ("<p:stream>", "not-well-formed"), ("text", "not-well-formed"),
            ("<stream/><a/>", "not-well-formed"),
            ("<stream/><!-- x -->", "restricted-xml"), ("<stream></stream>text", "not-well-formed"),
        ])
    func header(_ text: String, _ condition: String) {
        for size in [1, 4_096] {
            #expect(Heard(chunks(Array(text.utf8), of: size), finishing: true).condition == condition, "\(text)")
        }
    }

    @Test("text between stanzas, and anything after the end")
    func stray() {
        #expect(Heard(streamHeader + "text<a/>").condition == "bad-format")
        #expect(Heard(streamHeader + "<![CDATA[x]]><a/>").condition == "bad-format")
        #expect(Heard(streamHeader + "</stream:stream><a/>").condition == "not-well-formed")
    }

    @Test("end of input inside an element is an error")
    func truncated() {
        #expect(Heard(streamHeader + "<a>", finishing: true).condition == "not-well-formed")
        #expect(Heard(streamHeader, finishing: true).condition == "not-well-formed")
        #expect(Heard("", finishing: true).condition == "not-well-formed")
        #expect(Heard(streamHeader + "</stream:stream>", finishing: true).condition == nil)
    }

    @Test("everything complete before the error is delivered; the error is thrown again")
    func after() throws {
        let parser = StreamParser()
        var names: [String] = []
        #expect(throws: XMLError.self) {
            try parser.feed(Array((streamHeader + "\n<a/><b/><c></d><e/>").utf8)) { event in
                if case .element(let element) = event { names.append(element.name) }
            }
        }
        #expect(names == ["a", "b"])
        let error = #expect(throws: XMLError.self) { try parser.feed(Array("<f/>".utf8)) { _ in } }
        #expect(error?.line == 2)
        #expect(error?.description.contains("line 2, column") == true)
    }
}
