import KalijAddress
import KalijHandlers
import KalijCore
import KalijStore
import KalijText
import KalijXML

/// Nicknames (XEP-0172), pictures (XEP-0084, XEP-0153) and vCards (XEP-0054), of the account and of others.
enum ProfilesFeature: Feature, AccountObserver, MessageProcessor, PresenceObserver {
    static let name = "profiles"
    static let nicknames = "http://jabber.org/protocol/nick"
    static let announced = [nicknames + "+notify", AvatarNode.metadata + "+notify"]

    static let migrations = [
        Migration(
            "profiles/1",
            """
            -- What somebody says about himself.
            CREATE TABLE profile(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                jid TEXT NOT NULL,              -- a bare address, the account's too, or the full address of an occupant
                known INTEGER NOT NULL,         -- whether it is the account's, or a contact's; of others, the oldest go
                nick TEXT,                      -- published
                hint TEXT,                      -- the nickname in a message or a request
                avatar TEXT,                    -- the SHA-1 of the picture
                by_node INTEGER NOT NULL,       -- whether the picture is published in a node, and not in the vCard alone
                vcard BLOB);                    -- without the picture; NULL: not read yet
            CREATE UNIQUE INDEX profile_jid ON profile(account, jid);
            CREATE INDEX profile_stranger ON profile(account, id) WHERE known = 0;
            -- Changes of the own profile: the first is under way.
            CREATE TABLE profile_change(
                id INTEGER PRIMARY KEY,
                account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
                intent TEXT NOT NULL,           -- its id
                change BLOB NOT NULL);          -- as JSON
            CREATE INDEX profile_change_account ON profile_change(account, id);
            """)
    ]

    static var handlers: [any Handler<Step>.Type] { [PublishProfileRequest.self, VCardResponse.self] }

    static func handlerDeadLettered(_ letter: DeadLetter, in step: Step) throws {
        if letter.name == PublishProfileRequest.name { try ProfileChanges(step: step).lost() }
    }

    static var events: [any EventContent.Type] { [ProfileChanged.self] }
    static var intents: [any Intent.Type] { [SetProfile.self, FetchProfile.self] }

    static func process(_ message: inout IncomingMessage, in step: Step) throws {
        if NodeEvent.isMeant(by: message.element), let event = NodeEvent(message) {
            guard event.node == nicknames || event.node == AvatarNode.metadata else { return }
            message.isKept = false
            try received(event, by: message.sender, in: step)
        } else if message.source == .live, message.direction == .incoming, message.type != "groupchat",
            message.sender.isPrepared, let nick = nickname(message.element.child("nick", nicknames)),
            !isFromOccupant(message.element)
        {
            try Profiles(step: step).hinted(message.sender.bare, nick)
        }
    }

    private static func received(_ event: NodeEvent, by sender: JID, in step: Step) throws {
        let profiles = Profiles(step: step)
        switch (event.change, event.node) {
        case (.content(let element), nicknames): try profiles.named(sender, nickname(element))
        case (.content(let element), _): try profiles.pictured(sender, AvatarNode.hash(in: element))
        case (.retracted(let id), AvatarNode.metadata):
            if try profiles.profile(of: sender).avatar == id { try profiles.pictured(sender, nil) }
        // A newer nickname may exist.
        case (.retracted, _): break
        case (.emptied, nicknames): try profiles.named(sender, nil)
        case (.emptied, _): try profiles.pictured(sender, nil)
        }
    }

    static func didReceivePresence(_ presence: Element, in step: Step) throws {
        guard let from = presence["from"].map(JID.received), from.isPrepared, from.bare != step.account.jid else {
            return
        }
        switch presence["type"] {
        case nil:
            guard let photo = presence.child("x", "vcard-temp:x:update")?.child("photo")?.text,
                photo.isEmpty || Avatar.isHash(photo)
            else { return }
            try Profiles(step: step).shows(
                isFromOccupant(presence) ? from : from.bare, photo.isEmpty ? nil : photo)
        case "subscribe":
            guard let nick = nickname(presence.child("nick", nicknames)) else { return }
            try Profiles(step: step).hinted(from.bare, nick)
        default: break
        }
    }

    /// In a room, the sender is an occupant without an address of its own (XEP-0045 section 7.2).
    private static func isFromOccupant(_ stanza: Element) -> Bool {
        stanza.child("x", "http://jabber.org/protocol/muc#user") != nil
    }

    /// The nickname in a `<nick/>`, without surrounding whitespace; nil if there is none, or if it is too long.
    private static func nickname(_ element: Element?) -> String? {
        guard let element, element.isNamed("nick", nicknames) else { return nil }
        let words = element.text.words.joined(separator: " ")
        return words.isEmpty || words.utf8.count > SetProfile.maxNameLength ? nil : words
    }

    static func willRemoveAccount(in step: Step) { PictureFiles(of: step.account.id, in: step.database).removeAll() }
    static func didLogOut(in step: Step) { PictureFiles(of: step.account.id, in: step.database).removeAll() }
}
