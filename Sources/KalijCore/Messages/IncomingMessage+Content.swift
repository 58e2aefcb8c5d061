extension IncomingMessage {
    /// Parses the content of the stanza, before any feature processes it.
    package mutating func readContent() {
        let content = MessageContent(of: element, type: type)
        (body, file, isShown) = (content.text, content.file, content.isLine)
        isKept = isShown || stanzaID != nil
    }

    /// Drops the message unless it is shown or required otherwise; called by a feature that has processed its part.
    package mutating func dropUnlessNeeded() { isKept = isShown || isNeeded }

    /// The text as shown in the conversation.
    package var shownBody: String? { isShown && encryption?.problem == nil ? body : nil }
}
