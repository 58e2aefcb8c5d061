import KalijStream
import KalijXML
import Testing

@Suite("Counters of stream management")
struct StreamManagementTests {
    private func receive(
        _ management: inout StreamManagement, _ xml: String, unacknowledged: Int = 0
    ) throws -> StreamManagement.Received {
        let element = try #require(Element.parsed(xml), "\(xml)")
        return try management.receive(element, unacknowledged: unacknowledged)
    }

    @Test("XEP-0198, 1: only messages, presences and iqs are counted")
    func counting() throws {
        var management = StreamManagement()
        var counted: [UInt32] = []
        for xml in [
            "<message/>", "<r xmlns='urn:xmpp:sm:3'/>", "<presence type='error'/>", "<iq/>", "<message xmlns='x'/>",
            "<a xmlns='urn:xmpp:sm:3' h='0'/>", "<enabled xmlns='urn:xmpp:sm:3'/>", "<mess/>", "<message/>",
        ] {
            if case .stanza(let count) = try receive(&management, xml) { counted.append(count.value) }
        }
        #expect(counted == [1, 2, 3, 4])
        #expect(management.handled == HandledCount(4))
    }

    @Test("XEP-0198, 4: after 2^32-1 comes 0")
    func wrapAround() throws {
        var management = StreamManagement(
            handled: HandledCount(.max), acknowledged: HandledCount(.max - 1))
        guard case .stanza(let count) = try receive(&management, "<message/>") else {
            Issue.record("not counted")
            return
        }
        #expect(count == .zero)
        let received = try receive(&management, "<a xmlns='urn:xmpp:sm:3' h='2'/>", unacknowledged: 4)
        guard case .acknowledged(newly: 4) = received else {
            Issue.record("\(received)")
            return
        }
        #expect(management.acknowledged == HandledCount(2))
        #expect(HandledCount(1).distance(from: HandledCount(.max)) == 2)
        #expect(HandledCount(.max).advanced(by: 3) == HandledCount(2))
    }

    @Test("XEP-0198, 4: an acknowledgement without news")
    func nothingNew() throws {
        var management = StreamManagement(acknowledged: HandledCount(7))
        let received = try receive(&management, "<a xmlns='urn:xmpp:sm:3' h='7'/>", unacknowledged: 3)
        guard case .acknowledged(newly: 0) = received else {
            Issue.record("\(received)")
            return
        }
    }

    @Test("XEP-0198, 6: the server acknowledges more than was sent, or takes something back")
    func tooHigh() throws {
        for (handled, unacknowledged) in [("10", 1), ("6", 1), ("4294967295", 100)] {
            var management = StreamManagement(acknowledged: HandledCount(7))
            #expect(throws: StreamManagementError.self) {
                try receive(&management, "<a xmlns='urn:xmpp:sm:3' h='\(handled)'/>", unacknowledged: unacknowledged)
            }
            #expect(management.acknowledged == HandledCount(7), "a refused count changes nothing")
        }
        let error = StreamManagementError.handledCountTooHigh(
            HandledCount(10), sent: HandledCount(8), acknowledged: HandledCount(7))
        #expect(
            String(decoding: error.bytes, as: UTF8.self)
                == "<stream:error><undefined-condition xmlns='urn:ietf:params:xml:ns:xmpp-streams'/>"
                + "<text xmlns='urn:ietf:params:xml:ns:xmpp-streams'>"
                + "You acknowledged 10 stanzas, but I only sent you 8 so far.</text>"
                + "<handled-count-too-high xmlns='urn:xmpp:sm:3' h='10' send-count='8'/></stream:error></stream:stream>"
        )
    }

    @Test(
        "XEP-0198, 4: an acknowledgement must have a number",
        arguments: ["", "h=''", "h='x'", "h='-1'", "h='+1'", "h=' 1'", "h='4294967296'", "h='1.0'", "h='٣'"])
    func invalidCount(attribute: String) throws {
        var management = StreamManagement()
        #expect(throws: StreamManagementError.invalidCount) {
            try receive(&management, "<a xmlns='urn:xmpp:sm:3' \(attribute)/>", unacknowledged: 5)
        }
    }

    @Test("the other elements of a stream")
    func others() throws {
        var management = StreamManagement()
        guard case .acknowledgementRequested = try receive(&management, "<r xmlns='urn:xmpp:sm:3'/>"),
            case .nonza = try receive(&management, "<a/>"), case .nonza = try receive(&management, "<x xmlns='y'/>")
        else {
            Issue.record("not what it is")
            return
        }
        let error =
            "<error xmlns='http://etherx.jabber.org/streams'><conflict xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></error>"
        guard case .streamError(let found) = try receive(&management, error) else {
            Issue.record("no stream error")
            return
        }
        #expect(found == StreamError(.conflict))
        #expect(management.handled == .zero)
    }

    @Test("a stanza skipped for its size counts as handled")
    func skipped() {
        var management = StreamManagement()
        #expect(management.receiveSkipped(name: "message", namespace: "jabber:client") == HandledCount(1))
        #expect(management.receiveSkipped(name: "message", namespace: "x") == nil)
        #expect(management.receiveSkipped(name: "huge", namespace: "jabber:client") == nil)
        #expect(management.handled == HandledCount(1))
    }

    @Test("our requests")
    func bytes() {
        #expect(String(decoding: StreamManagement.request, as: UTF8.self) == "<r xmlns='urn:xmpp:sm:3'/>")
        #expect(
            String(decoding: StreamManagement.acknowledgement(HandledCount(.max)), as: UTF8.self)
                == "<a xmlns='urn:xmpp:sm:3' h='4294967295'/>")
        #expect(String(decoding: StreamManagement.end, as: UTF8.self) == "</stream:stream>")
    }
}
