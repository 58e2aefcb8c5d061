/// Well-formed stanzas with which a sender can do harm.
public enum HostileStanza {
    /// A message with elements nested `depth` deep; the id is `nested`.
    public static func nested(_ depth: Int, to recipient: String) -> String {
        "<message to='\(recipient)' type='chat' id='nested'><body>nested</body>"
            + String(repeating: "<x xmlns='urn:example:x'>", count: depth) + String(repeating: "</x>", count: depth)
            + "</message>"
    }

    /// A message with a body of so many bytes; the id is `large`.
    public static func large(_ bytes: Int, to recipient: String) -> String {
        "<message to='\(recipient)' type='chat' id='large'><body>" + String(repeating: "a", count: bytes)
            + "</body></message>"
    }
}
