extension Message {
    /// The id by which reactions and replies refer to the message: in a room the id that the room has assigned (XEP-0444 section 4.2,
    /// XEP-0461 section 3.1); nil if there is none.
    public var reference: String? {
        type == "groupchat" ? stanzaID : originID ?? (messageID.isEmpty ? nil : messageID)
    }
}
