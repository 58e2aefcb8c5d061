import Foundation
import KalijAddress
import KalijStream
import KalijXML
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// Names, pictures and vCards.
extension StepHarness {
    static let romeo = "romeo@example.net"

    /// A harness with romeo as a contact.
    static func withRomeo() throws -> StepHarness {
        let harness = try withRoster("<item jid='romeo@example.net' subscription='both'/>")
        try harness.acknowledgeAll()
        return harness
    }

    /// What is known of `jid`.
    func profile(_ jid: String = romeo) throws -> Profile? {
        try Contacts(database).profile(of: .received(jid), for: account)
    }

    /// The node of `jid` has a new item.
    @discardableResult
    func publish(_ node: String, _ items: String, from jid: String = romeo) throws -> [String] {
        try receive(
            """
            <message from='\(jid)' to='juliet@example.org' type='headline'><event xmlns='http://jabber.org/protocol/pubsub#event'>\
            <items node='\(node)'>\(items)</items></event></message>
            """
        ).told(ProfileChanged.self)
    }

    @discardableResult
    func publish(nick: String, from jid: String = romeo) throws -> [String] {
        try publish(
            "http://jabber.org/protocol/nick",
            "<item id='x'><nick xmlns='http://jabber.org/protocol/nick'>\(nick)</nick></item>",
            from: jid)
    }

    @discardableResult
    func publish(picture: Avatar, from jid: String = romeo) throws -> [String] {
        try publish(
            "urn:xmpp:avatar:metadata",
            """
            <item id='\(picture.hash)'><metadata xmlns='urn:xmpp:avatar:metadata'>\
            <info bytes='\(picture.bytes.count)' id='\(picture.hash)' type='\(picture.type)'/></metadata></item>
            """, from: jid)
    }

    /// The request that waits under the name of a handler is answered with `content`.
    @discardableResult
    func reply(to name: String, _ content: String, from jid: String? = romeo) throws -> Step.Effects {
        let from = jid.map { " from='\($0)'" } ?? ""
        return try receive("<iq type='result'\(from) id='\(try open(name))'>\(content)</iq>")
    }

    @discardableResult
    func refuse(request name: String, condition: String, from jid: String? = nil) throws -> Step.Effects {
        let from = jid.map { " from='\($0)'" } ?? ""
        return try receive(
            "<iq type='error'\(from) id='\(try open(name))'><error type='cancel'><\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>"
        )
    }

    /// The data node's answer with these bytes.
    static func item(_ bytes: [UInt8], id: String) -> String {
        """
        <pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='urn:xmpp:avatar:data'><item id='\(id)'>\
        <data xmlns='urn:xmpp:avatar:data'>\(Data(bytes).base64EncodedString())</data></item></items></pubsub>
        """
    }

    /// A vCard with these elements and this picture.
    static func card(_ elements: String = "", _ picture: [UInt8]? = nil) -> String {
        let photo = picture.map {
            "<PHOTO><TYPE>image/png</TYPE><BINVAL>\(Data($0).base64EncodedString(options: .lineLength76Characters))</BINVAL></PHOTO>"
        }
        return "<vCard xmlns='vcard-temp'>\(elements)\(photo ?? "")</vCard>"
    }

    /// The names of all files of pictures.
    func pictures() throws -> [String] {
        let folder = directory.path + "/pictures"
        return (FileManager.default.subpaths(atPath: folder) ?? []).filter { $0.contains("/") }.sorted()
    }
}

extension Avatar {
    /// A PNG, as far as its signature says.
    static func png(_ text: String = "a", bytes: Int = 0) throws -> Avatar {
        try Avatar(
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + Array(text.utf8)
                + [UInt8](repeating: 7, count: bytes))
    }
}
