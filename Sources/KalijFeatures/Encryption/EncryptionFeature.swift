import KalijSteps
import KalijStore
import KalijXML

/// Encrypted messages (XEP-0380). A message that cannot be read is a line of its conversation without a text: the body is an excuse for
/// clients that do not know the method. The stanza is kept for a later decryption.
enum EncryptionFeature: Feature, MessageProcessor, StoredMessageObserver {
    static let name = "encryption"
    static let announced = ["urn:xmpp:eme:0"]
    static let migrations = [
        Migration(
            "encryption/1",
            """
            -- Encrypted stanzas, as they came.
            CREATE TABLE sealed(message INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE, stanza BLOB NOT NULL);
            """)
    ]

    /// The longest name of a method, in bytes.
    private static let longestMethod = 200

    static func process(_ message: inout IncomingMessage, in step: Step) throws {
        guard let method = method(of: message.element) else { return }
        message.encryption = MessageEncryption(method, problem: .unknownMethod)
        (message.isKept, message.isShown) = (true, true)
    }

    static func didStore(_ message: Message, from incoming: IncomingMessage, in step: Step) throws {
        guard message.encryption?.problem != nil else { return }
        try step.database.run(
            "INSERT INTO sealed(message, stanza) VALUES (?, ?)",
            [.integer(message.id), .blob(incoming.element.bytes(in: "jabber:client"))])
    }

    /// The message in `row` was read after all.
    static func mended(_ row: Int64, in step: Step) throws {
        try step.database.run("DELETE FROM sealed WHERE message = ?", [.integer(row)])
    }

    /// The namespace of the method of encryption; nil if the message is not encrypted.
    private static func method(of message: Element) -> String? {
        if let namespace = message.child("encryption", "urn:xmpp:eme:0")?["namespace"], !namespace.isEmpty,
            namespace.utf8.count <= longestMethod, !namespace.contains(where: \.isWhitespace)
        {
            return namespace
        }
        // OMEMO (XEP-0384) in its two versions. The hint is not required.
        return ["eu.siacs.conversations.axolotl", "urn:xmpp:omemo:2"].first { message.child("encrypted", $0) != nil }
    }
}
