import KalijAddress
import KalijText
import KalijXML

@testable import KalijCore
@testable import KalijFeatures
@testable import KalijFiles
@testable import KalijStream

/// Cuts, cleans, searches and names go by bytes and scalars, and take a time that grows with the text.
func requireSafe(_ text: String, among other: String) throws {
    let count = text.utf8.count
    for limit in [1, 7, 100, 1000, 10_000] {
        let cut = try linear("cut", count) { text.cut(to: limit) }
        try require(cut.utf8.count <= limit && text.begins(with: cut), "cut to \(limit)")
        // What is left out: a Character of less than 64 bytes, or a part of a scalar.
        try require(cut.utf8.count >= min(limit, count) - 67, "cut to \(limit) leaves \(cut.utf8.count) of \(count)")
    }
    for form in [CleaningForm.lines, .field, .xml, .json] {
        let clean = try linear("cleaning", count) { text.cleaned(for: form) }
        try require(clean.utf8.count <= 16 * count, "cleaned text grows")
        guard form == .field else { continue }
        try require(clean.cleaned(for: .field).exact == clean.exact, "clean text is cleaned")
        try require(!clean.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a control in a field")
    }
    _ = try linear("words", count) { text.words.count }
    try requireExpression(text)
    try requireName(text)
    _ = try linear("mentions", count + other.utf8.count) { Mention.names(other.cut(to: 1000), in: text) }
    _ = try linear("addresses", count) { (JID.received(text), XMPPURI("xmpp:" + text), OMEMOURI(text)) }
    _ = try linear("files", count) {
        (FileAddress(encrypted: "aesgcm://" + text), FileAddress.isWeb("https://" + text))
    }
}

/// In FTS5's language a search is strings, and a star where a word goes on.
private func requireExpression(_ text: String) throws {
    guard let search = try linear("search", text.utf8.count, { try? SearchWords(text) }) else { return }
    var isInside = false
    for byte in search.expression.utf8 {
        if byte == UInt8(ascii: "\"") {
            // Two in a row end a string and begin the next: within a string they are one sign.
            isInside.toggle()
        } else {
            let isFree = byte == UInt8(ascii: " ") || byte == UInt8(ascii: "*")
            try require(isInside || isFree, "a word outside of a string: \(search.expression)")
            try require(byte != 0, "a zero byte")
        }
    }
    try require(!isInside, "an open string: \(search.expression)")
}

private func requireName(_ text: String) throws {
    let name = try linear("names", text.utf8.count) { UniqueFilename.cleaned(text) }
    let scalars = name.unicodeScalars
    try require((1...UniqueFilename.limit).contains(name.utf8.count), "a name of \(name.utf8.count) bytes")
    try require(!scalars.contains { $0 == "/" || $0 == "\\" || $0.value < 0x20 }, "a separator in a name: \(name)")
    try require(![".", "-", " "].contains(scalars.first), "a name begins badly: \(name)")
    try require(UniqueFilename.cleaned(name).exact == name.exact, "a clean name is cleaned: \(name)")
}

// MARK: Readers of stanzas

private let muc = "http://jabber.org/protocol/muc#user"
/// The most bytes that are kept of a stranger's text.
private let mostKept = 1000

/// What stanzas say, with the text in every place.
func requireReaders(_ text: String) throws {
    let count = text.utf8.count
    func element(_ name: String, _ namespace: String? = nil, _ attributes: [String], _ children: [Element] = [])
        -> Element
    {
        let element = Element(name, xmlns: namespace, children: children, text: text)
        for attribute in attributes { element[attribute] = text }
        return element
    }
    let item = element("item", muc, ["jid", "nick", "affiliation", "role"], [element("reason", muc, [])])
    let destroy = element("destroy", muc, ["jid"], [element("reason", muc, [])])
    let presence = element(
        "presence", "jabber:client", ["type", "id"],
        [
            element("x", muc, [], [item, destroy, element("status", muc, ["code"])]),
            element("occupant-id", "urn:xmpp:occupant-id:0", ["id"]),
        ])
    let read = try linear("presence", count) { RoomPresence(presence, of: .received("room@example.org/" + text)) }
    let kept = [read.reason, read.destroyed?.reason, read.occupant?.occupantID].compactMap { $0?.utf8.count }
    try require(kept.allSatisfy { $0 <= mostKept }, "a room's words are kept")
    try require(read.occupant?.jid?.description.utf8.count ?? 0 <= 2 * JID.longestPart + 1, "a long address is kept")
    _ = read.removal

    let message = element(
        "message", "jabber:client", ["id", "type"],
        [
            element("body", nil, []),
            element("reactions", "urn:xmpp:reactions:0", ["id"], [element("reaction", nil, [])]),
            element("retract", "urn:xmpp:message-retract:1", ["id"]),
            element("reply", "urn:xmpp:reply:0", ["id", "to"]),
            element("fallback", Fallback.namespace, ["for"], [element("body", nil, ["start", "end"])]),
            element(
                "error", nil, ["type", "by"], [element("text", "urn:ietf:params:xml:ns:xmpp-stanzas", ["xml:lang"])]),
            element("nick", "http://jabber.org/protocol/nick", []),
        ])
    let operation = try linear("operation", count) { MessageOperation(message) }
    try require(operation?.reference.utf8.count ?? 0 <= mostKept, "a long reference")
    _ = try linear("content", count) {
        (MessageContent(of: message, type: "chat"), MessageContent(sealed: text, in: message))
    }
    _ = try linear("error", count) { StanzaError(message)?.text }
    let card = element("vCard", "vcard-temp", [], [element("FN", nil, [], []), element("ADR", nil, [], [item])])
    _ = try linear("vCard", count) { VCard(card) }
    let room = element("conference", Bookmark.native, ["name", "autojoin"], [element("nick", nil, [])])
    _ = try linear("bookmark", count) { Bookmark(room, id: "room@example.org") }
    try requireForm(text)
    try linear("parsing", count) { try requireRoundTrip(element("body", "jabber:client", ["id"])) }
}

private func requireForm(_ text: String) throws {
    var form = DataForm(.form, formType: text, title: text, fields: [DataForm.Field(text, .textMulti, values: [text])])
    form.instructions = [text]
    let problems = try linear("form", text.utf8.count) { form.problems().map(\.description) }
    try require(problems.count < 100, "many problems")
    _ = try linear("form", text.utf8.count) { form.element.bytes() }
}
