import KalijXML

/// The registration of an account in an encrypted stream, before any authentication (XEP-0077 section 3.1), optionally with an
/// invitation (XEP-0445).
///
/// A value without socket and terminal, like ``Negotiation``. The owner passes events and performs the returned actions. After an error
/// the registration has ended.
public struct Registration: Sendable {
    /// The input, from the owner.
    public enum Event {
        /// The stream is encrypted, with these features (`Negotiation.Action.unauthenticated`).
        case began(StreamFeatures)
        /// An element of the stream.
        case element(Element)
        /// The response to `.ask`: the local part of the address, the password, and values by the names of the other fields.
        case answered(username: String, password: String, values: [String: [String]])
    }

    /// The actions for the owner, in this order.
    public enum Action {
        /// Send this stanza.
        case send(Element)
        /// Present the form to the user; respond with `.answered`.
        case ask(RegistrationForm)
        /// The account was created.
        case registered
    }

    private enum Stage {
        case new
        case invited
        case awaitingForm
        case answering(RegistrationForm)
        case submitting
        case over
    }

    static let namespace = "jabber:iq:register"

    private let domain: String
    private let token: String?
    private var stage = Stage.new

    /// - Parameters:
    ///   - domain: the domain of the account.
    ///   - token: the token of an invitation; nil without an invitation.
    public init(at domain: String, token: String?) { (self.domain, self.token) = (domain, token) }

    /// Handles an event.
    /// - Returns: the next actions.
    /// - Throws: `RegistrationError`; the connection cannot be used any further.
    public mutating func handle(_ event: Event) throws(RegistrationError) -> [Action] {
        do { return try process(event) } catch {
            stage = .over
            throw error
        }
    }

    private mutating func process(_ event: Event) throws(RegistrationError) -> [Action] {
        switch (event, stage) {
        case (.began(let features), .new): return try begin(features)
        case (.element(let element), .invited):
            guard try isAnswer(element, to: "invitation", RegistrationError.invitation) else { return [] }
            return requestForm()
        case (.element(let element), .awaitingForm):
            guard try isAnswer(element, to: "form", RegistrationError.refused) else { return [] }
            let form = try RegistrationForm(element)
            stage = .answering(form)
            return [.ask(form)]
        case (.answered(let username, let password, let values), .answering(let form)):
            let query = try form.query(username: username, password: password, values)
            stage = .submitting
            return [.send(request("set", "registration", query))]
        case (.element(let element), .submitting):
            guard try isAnswer(element, to: "registration", RegistrationError.refused) else { return [] }
            stage = .over
            return [.registered]
        // All other elements are ignored: there is no account yet.
        case (.element, _): return []
        default: throw .invalidAnswer("out of order")
        }
    }

    private mutating func begin(_ features: StreamFeatures) throws(RegistrationError) -> [Action] {
        guard let token else {
            guard features.offersRegistration else { throw .notOffered(invitations: features.takesInvitations) }
            return requestForm()
        }
        stage = .invited
        let preauth = Element("preauth", xmlns: "urn:xmpp:pars:0", attributes: ["token": token])
        return [.send(request("set", "invitation", preauth))]
    }

    private mutating func requestForm() -> [Action] {
        stage = .awaitingForm
        return [.send(request("get", "form", Element("query", xmlns: Self.namespace)))]
    }

    private func request(_ type: String, _ id: String, _ payload: Element) -> Element {
        Element(
            "iq", xmlns: Namespace.client, attributes: ["type": type, "id": id, "to": domain],
            children: [payload])
    }

    /// Whether `element` is the result of the request `id`; false for any other element.
    private func isAnswer(
        _ element: Element, to id: String, _ refused: (StanzaError) -> RegistrationError
    ) throws(RegistrationError) -> Bool {
        guard element.isNamed("iq", Namespace.client), element["id"] == id else { return false }
        if element["type"] == "error" {
            guard let error = StanzaError(element) else { throw .invalidAnswer("an error without a reason") }
            throw refused(error)
        }
        return element["type"] == "result"
    }
}
