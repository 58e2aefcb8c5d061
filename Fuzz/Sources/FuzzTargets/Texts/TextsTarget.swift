import KalijAddress
import KalijText
import KalijXML

@testable import KalijFeatures
@testable import KalijFiles
@testable import KalijPush
@testable import KalijCore
@testable import KalijStream

/// Texts from outside, as identifiers and as texts. The first bit of an input chooses.
///
/// Checked: two identifiers that are equivalent and differ in bytes stay two wherever values are compared, and no limit, cut or
/// reader is surprised by a Character of 100 kB.
func fuzzTexts(_ input: UnsafeRawBufferPointer) throws {
    var source = ByteSource(input)
    if source.byte() & 1 == 0 {
        let pair = EquivalentPair(&source)
        try requireTwo(pair)
        try requireParts(pair)
        try requireTwoAddresses(pair)
        try requireTwoInStanzas(pair)
        try requireTwoTokens(pair)
        for text in [pair.one, pair.other] { try requireSafe(text, among: pair.other) }
    } else {
        let text = LargeText.texts(&source)
        try requireSafe(text, among: source.oneIn(2) ? text : LargeText.text(&source))
        try requireReaders(text)
    }
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

// MARK: Identifiers

private func requireTwo(_ pair: EquivalentPair) throws {
    try require(pair.one == pair.other, "not equivalent: \(bytes(pair.one)), \(bytes(pair.other))")
    let (one, other) = (pair.one.exact, pair.other.exact)
    try require(one != other && one == pair.one.exact, "equal as identifiers")
    try require(Set([one, other, pair.one.exact]).count == 2, "one in a set")
    try require((one < other) != (other < one), "in no order")
    try require(
        (one < other) == bytes(pair.one).lexicographicallyPrecedes(bytes(pair.other)), "in another order than bytes")
}

private let separators: [Unicode.Scalar] = [".", "/", ";", ":", "=", "?", "@", " ", "\n", "#", "`"]

private func requireParts(_ pair: EquivalentPair) throws {
    for (text, start) in [(pair.one, pair.other), (pair.other, pair.one), (pair.one + pair.other, pair.one)] {
        let begins = bytes(text).starts(with: bytes(start))
        try require(text.begins(with: start) == begins, "begins")
        try require(text.rest(after: start).map { bytes(start + $0) } ?? bytes(text) == bytes(text), "rest")
        try require((text.rest(after: start) != nil) == begins, "a rest without a beginning")
        let ends = bytes(text).reversed().starts(with: bytes(start).reversed())
        try require(text.ends(with: start) == ends, "ends")
        for separator in separators {
            let parts = text.parts(at: separator)
            try require(bytes(parts.joined(separator: String(separator))) == bytes(text), "parts at \(separator)")
            try require(!parts.contains { $0.unicodeScalars.contains(separator) }, "a separator in a part")
            try require(text.parts(at: separator, most: 2).count <= 2, "more than two parts")
            let words = text.words(at: separator)
            try require(words.map(bytes) == parts.filter { !$0.isEmpty }.map(bytes), "words at \(separator)")
        }
    }
}

/// Addresses are equal if and only if their prepared bytes are.
private func requireTwoAddresses(_ pair: EquivalentPair) throws {
    let forms: [(String) -> String] = [
        { $0 + "@example.org" }, { "room@example.org/" + $0 }, { $0 + ".example" }, { $0 + "@" + $0 + "/" + $0 },
        { $0 },
    ]
    for form in forms {
        let (one, other) = (JID.received(form(pair.one)), JID.received(form(pair.other)))
        let isSame = bytes(one.description) == bytes(other.description)
        try require((one == other) == isSame, "addresses of \(bytes(pair.one))")
        try require(Set([one, other]).count == (isSame ? 1 : 2), "addresses in a set")
        try require((one < other) != (other < one) || isSame, "addresses in no order")
        try require((one.bare == other.bare) == (bytes(one.bare.description) == bytes(other.bare.description)), "bare")
        for jid in [one, other] where jid.isPrepared {
            let again = try? JID(jid.description)
            try require(again.map { bytes($0.description) } == bytes(jid.description), "prepared again: \(jid)")
            try require(
                max(jid.local?.utf8.count ?? 0, jid.resource?.utf8.count ?? 0) <= JID.longestPart, "a long part")
        }
        _ = XMPPURI("xmpp:" + form(pair.one) + "?join;" + pair.other + "=" + pair.one)
        _ = OMEMOURI("xmpp:" + form(pair.one) + "?omemo-sid-1=" + pair.other)
    }
    let (one, other) = (RoomAuthor.occupant(pair.one), RoomAuthor.occupant(pair.other))
    try require(one != other && one == .occupant(pair.one), "two occupants are one author")
}

/// Keys, fields, features, devices and places in stanzas.
private func requireTwoInStanzas(_ pair: EquivalentPair) throws {
    let keys = [pair.one, pair.other].map {
        Element(
            "keys", attributes: ["jid": $0], children: [Element("key", attributes: ["rid": "1"], text: "AAAA")])
    }
    let header = Element("header", attributes: ["sid": "2"], children: keys)
    let stanza = Element(
        "message", xmlns: "jabber:client",
        children: [Element("encrypted", xmlns: "urn:xmpp:omemo:2", children: [header])])
    // A text that XML cannot have is changed when it is written.
    let written = keys.compactMap { $0["jid"] }
    if let element = EncryptedElement(stanza, .omemo2), written.map(bytes) == [pair.one, pair.other].map(bytes) {
        for name in written { try require(element.keys(for: 1, of: name).count == 1, "keys of two addresses are one") }
    }
    let form = DataForm(
        .submit, fields: [pair.one, pair.other].map { DataForm.Field($0, .textSingle, values: [$0]) })
    for name in [pair.one, pair.other] {
        try require(form[name]?.value.map(bytes) == bytes(name), "two variables are one")
    }
    let features = [pair.one, pair.other]
    let (info, turned) = (DiscoveryInfo(features: features), DiscoveryInfo(features: features.reversed()))
    let hashed = (StructuredHashInput.bytes(of: info), StructuredHashInput.bytes(of: turned))
    try require(hashed.0 == hashed.1, "the hash goes by the order of features")
    try require(VerificationString.bytes(of: info) == VerificationString.bytes(of: turned), "so does the former hash")
    let nodes = features.map { PushTarget(service: "push.example.org", node: $0, module: nil, secret: nil) }
    let services = features.map { PushTarget(service: $0, node: "node", module: nil, secret: nil) }
    for places in [nodes, services] {
        try require(!places[0].isSamePlace(as: places[1]), "two registrations for pushes are one")
    }
}

/// The push server's keys, and its reading of nodes and domains.
private func requireTwoTokens(_ pair: EquivalentPair) throws {
    guard let hasher else { return }
    try require(hasher.key(domain: pair.one) != hasher.key(domain: pair.other), "two domains are one")
    let tokens = [pair.one, pair.other].map { hasher.key(token: $0, module: "m") }
    try require(tokens[0] != tokens[1], "two tokens are one")
    _ = [pair.one, pair.other].map(RegistrableDomain.of)
}

// Made once, and used by libFuzzer's single thread or within a test of this target alone.
nonisolated(unsafe) private let hasher = try? KeyHasher(secret: Array(repeating: 7, count: 32))
