import KalijXML
import Testing

/// RFC 6120 section 11: what XMPP does not allow in XML, each with the condition of section 4.9.3.
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
        "what is not well-formed (11.3), namespaces included",
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

    @Test("what was complete before the error is delivered; the error is thrown again")
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
