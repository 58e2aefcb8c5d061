import KalijStream
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// XEP-0030, XEP-0115, XEP-0390: the features announced by this client.
struct OwnCapabilitiesTests {
    private func answer(_ namespace: String, node: String? = nil) throws -> Element {
        let harness = try StepHarness.caughtUp()
        try harness.subscribe("a@b")
        let node = node.map { " node='\($0)'" } ?? ""
        try harness.receive("<iq type='get' from='a@b/c' id='d'><query xmlns='\(namespace)'\(node)/></iq>")
        let entry = try #require(
            OutboundQueue(database: harness.database, account: harness.account.id).entries(after: 0, limit: 9).last)
        let iq = try Element.parse(StepHarness.inClient(String(decoding: entry.stanza, as: UTF8.self)))
        #expect((iq["to"], iq["id"]) == ("a@b/c", "d"))
        return iq
    }

    @Test("the hashes in our presence match our answers, for each announced node")
    func hashes() throws {
        let harness = try StepHarness.online()
        try harness.answerFeatures(archive: false)
        let queue = OutboundQueue(database: harness.database, account: harness.account.id)
        let stanzas = try queue.entries(after: 0, limit: 9).map {
            try Element.parse(StepHarness.inClient(String(decoding: $0.stanza, as: UTF8.self)))
        }
        let presence = try #require(stanzas.first { $0.name == "presence" })
        let hashes = CapabilityHash.all(of: presence)
        #expect(hashes.map(\.algorithm) == ["sha-256", "sha-1"])
        for hash in hashes {
            let iq = try answer(DiscoveryInfo.namespace, node: hash.node)
            let query = try #require(iq.child("query", DiscoveryInfo.namespace))
            #expect(query["node"] == hash.node)
            #expect(hash.verifies(try #require(DiscoveryInfo(query))))
        }
    }

    @Test("there is an answer without a node, item-not-found for an unknown node, and no items")
    func nodes() throws {
        let info = try #require(DiscoveryInfo(answer(DiscoveryInfo.namespace).children[0]))
        #expect(info.supports("urn:xmpp:ping"))
        #expect(StanzaError(try answer(DiscoveryInfo.namespace, node: "urn:other"))?.condition == .itemNotFound)
        #expect(try answer("http://jabber.org/protocol/disco#items").children[0].children.isEmpty)
    }
}
