import KalijCore
import KalijStore
import KalijXML

/// Encrypted messages (XEP-0380). A message that cannot be decrypted is shown in its conversation without a text: its body is a
/// fallback for clients without support for the method. The stanza is stored for a later decryption.
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

    /// The maximum length of a method's namespace, in bytes.
    private static let maxMethodLength = 200

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

    /// Removes the stored stanza: the message in `row` was decrypted later.
    static func mended(_ row: Int64, in step: Step) throws {
        try step.database.run("DELETE FROM sealed WHERE message = ?", [.integer(row)])
    }

    /// The namespace of the method of encryption; nil if the message is not encrypted.
    private static func method(of message: Element) -> String? {
        if let namespace = message.child("encryption", "urn:xmpp:eme:0")?["namespace"], !namespace.isEmpty,
            namespace.utf8.count <= maxMethodLength, !namespace.contains(where: \.isWhitespace)
        {
            return namespace
        }
        // OMEMO (XEP-0384) in both versions. The hint is not required.
        return ["eu.siacs.conversations.axolotl", "urn:xmpp:omemo:2"].first { message.child("encrypted", $0) != nil }
    }
}
