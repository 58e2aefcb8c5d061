import KalijXML

/// What the server does with the client's stanzas.
extension SimulatedServer {
    func handle(_ stanza: Element, from session: ServerSession) {
        switch stanza.name {
        case "message": take(stanza, from: session)
        case "presence": if stanza["type"] == nil { becameAvailable(session) }
        default: if ["get", "set"].contains(stanza["type"]) { answer(stanza, to: session) }
        }
    }

    private func answer(_ iq: Element, to session: ServerSession) {
        let recipient = iq["to"] ?? account
        if recipient == HostileRoom.address { return answer(ofRoom: iq, to: session) }
        if !recipient.hasPrefix(account), recipient != domain {
            return forward(iq, to: recipient, from: session)
        }
        if iq.child("query", "http://jabber.org/protocol/disco#info") != nil {
            let features =
                (profile.hasArchive ? ["urn:xmpp:mam:2", "urn:xmpp:sid:0"] : []) + [
                    "urn:xmpp:carbons:2", "urn:xmpp:ping",
                ]
            result(
                iq, to: session,
                "<query xmlns='http://jabber.org/protocol/disco#info'>"
                    + features.map { "<feature var='\($0)'/>" }.joined() + "</query>")
        } else if profile.hasArchive, let query = iq.child("query", "urn:xmpp:mam:2") {
            show(Archive.Query(query), iq, to: session)
        } else if profile.hasArchive, profile.hasPreferences, iq.child("prefs", "urn:xmpp:mam:2") != nil {
            result(
                iq, to: session,
                "<prefs xmlns='urn:xmpp:mam:2' default='\(profile.policy.rawValue)'><always/><never/></prefs>")
        } else if iq.child("enable", "urn:xmpp:carbons:2") != nil {
            session.wantsCarbons = true
            result(iq, to: session, "")
        } else if profile.tellsTime, iq.child("time", "urn:xmpp:time") != nil {
            let utc = Stamp.text(world.milliseconds)
            result(iq, to: session, "<time xmlns='urn:xmpp:time'><tzo>+00:00</tzo><utc>\(utc)</utc></time>")
        } else if iq.child("ping", "urn:xmpp:ping") != nil {
            result(iq, to: session, "")
        } else {
            refuse(iq, to: session, "service-unavailable", "cancel")
        }
    }

    private func result(_ iq: Element, to session: ServerSession, _ payload: String) {
        send(
            "<iq type='result' id='\(iq["id"] ?? "")' to='\(account)/\(session.resource)'>\(payload)</iq>", to: session)
    }

    private func refuse(_ iq: Element, to session: ServerSession, _ condition: String, _ type: String) {
        send(
            """
            <iq type='error' id='\(iq["id"] ?? "")' to='\(account)/\(session.resource)'><error type='\(type)'>\
            <\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
            """, to: session)
    }

    private func show(_ query: Archive.Query, _ iq: Element, to session: ServerSession) {
        guard startsArchive() else { return refuse(iq, to: session, "internal-server-error", "wait") }
        guard let page = page(query) else { return refuse(iq, to: session, "item-not-found", "cancel") }
        for message in page.messages {
            let queryID = query.queryID.map { " queryid='\($0)'" } ?? ""
            send(
                """
                <message from='\(account)' to='\(account)/\(session.resource)'><result xmlns='urn:xmpp:mam:2'\(queryID) \
                id='\(message.id)'><forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' \
                stamp='\(Stamp.text(message.at))'/>\(inClient(message.stanza))</forwarded></result></message>
                """, to: session, message: message.number, isPage: true)
        }
        let bounds =
            page.messages.isEmpty
            ? "" : "<first>\(page.messages[0].id)</first><last>\(page.messages[page.messages.count - 1].id)</last>"
        result(
            iq, to: session,
            """
            <fin xmlns='urn:xmpp:mam:2'\(page.isComplete ? " complete='true'" : "")>\
            <set xmlns='http://jabber.org/protocol/rsm'>\(bounds)</set></fin>
            """)
    }

    /// Somebody else is asked, who answers after the milliseconds that the question says, or never.
    private func forward(_ iq: Element, to recipient: String, from session: ServerSession) {
        guard let payload = iq.children.first, let delay = payload["answer"].flatMap({ Int64($0) }) else { return }
        let answer = """
            <iq type='result' id='\(iq["id"] ?? "")' from='\(recipient)' to='\(account)/\(session.resource)'/>
            """
        let resource = session.resource
        world.after(delay * 1000) { [weak self] in self?.route(answer, to: resource) }
    }
}
