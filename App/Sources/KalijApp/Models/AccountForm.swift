import KalijAddress
import KalijClient

/// A server's registration form as the screen displays it, and what the user has entered.
public struct AccountForm: Sendable, Equatable {
    /// The server of the account.
    public let domain: String
    /// The user name that the invitation reserves; nil if it can be chosen.
    public let reserved: String?
    /// The server's instructions; empty if there are none.
    public let instructions: String
    public let parts: [Part]
    /// The user name that was entered.
    public var name = ""
    public var password = ""
    /// What was entered, by the names of fields.
    public var values: [String: String] = [:]
    private let form: RegistrationForm

    /// A part of the form.
    public struct Part: Sendable, Equatable {
        public let kind: Kind
        /// The name of the field in the form; nil for a part without input.
        public let field: String?
        /// The label, and the accessible name.
        public let label: String
        /// The server's explanation of the field.
        public let hint: String
        public let isRequired: Bool
        /// The bytes of a picture that the field asks about: a stranger's.
        public let picture: [UInt8]?
        /// The field's media in the web.
        public let links: [Link]
    }

    public struct Link: Sendable, Equatable {
        public let label: String
        public let address: String
    }

    public enum Kind: Sendable, Equatable {
        case text, secret, lines, check
        /// One of the options: values and labels.
        case choice([Choice])
        /// Some of the options. The values are lines.
        case choices([Choice])
        /// Text to read.
        case note
    }

    public struct Choice: Sendable, Equatable {
        public let value: String
        public let label: String
    }

    /// Where the input has a problem.
    public enum Place: Sendable, Equatable {
        case name, password
        case field(String)
        /// No particular field.
        case form
    }

    /// A problem with the input, or the server's reason to refuse it, described for the user.
    public struct Problem: Error, Sendable, Equatable {
        public let words: String
        public let place: Place

        public init(_ words: String, at place: Place) { (self.words, self.place) = (words, place) }
    }

    /// - Throws: `RegistrationError.invalidAnswer` if the texts of the form are too long to display.
    public init(_ form: RegistrationForm, _ registration: AccountRegistration) throws(RegistrationError) {
        self.form = form
        domain = registration.domain
        reserved = registration.token == nil ? nil : registration.invitation?.account?.local
        let told = form.instructions.filter { !$0.isEmpty }.joined(separator: "\n")
        instructions =
            (String(told.prefix(Self.longestInstructions)) + (told.count > Self.longestInstructions ? "…" : ""))
            .shownText.text
        parts = form.parts.map { Part($0, form) }
        name = reserved ?? ""
        for part in parts {
            guard let field = part.field else { continue }
            let given = form.fields.first { $0.name == field }?.values ?? []
            switch part.kind {
            case .choices, .lines: values[field] = given.joined(separator: "\n")
            case .text, .secret, .check, .choice, .note: values[field] = given.first ?? ""
            }
        }
        guard isDisplayable else { throw .invalidAnswer("its texts are too long") }
    }

    /// In characters: a label of 8,000 takes 147 ms.
    private static let longestInstructions = 3_000

    /// The limits of the texts of a form together, and of a value that the server has filled in.
    private static let (mostBytes, mostEmoji, longestValue) = (20_000, Shown.mostEmoji, 2_000)

    private var isDisplayable: Bool {
        let texts = [instructions] + parts.flatMap { [$0.label, $0.hint] + $0.links.map(\.label) + $0.kind.labels }
        return values.values.allSatisfy { $0.utf8.count <= Self.longestValue }
            && (texts + values.values).reduce(0) { $0 + $1.utf8.count } <= Self.mostBytes
            && texts.reduce(0) { $0 + $1.emojiCost } <= Self.mostEmoji
    }

    /// Keeps what was entered in an earlier form of the server, except for the answers about pictures.
    public mutating func keep(_ former: AccountForm) {
        (name, password) = (reserved ?? former.name, former.password)
        for part in parts where part.picture == nil {
            if let field = part.field, let value = former.values[field] { values[field] = value }
        }
    }

    /// The account that was entered.
    /// - Throws: `Problem`
    public func account() throws(Problem) -> NewAccount {
        let word = name.filter { !$0.isWhitespace }
        guard !word.isEmpty else { throw Problem(Words.noUserName, at: .name) }
        let address = word.contains("@") ? word : word + "@" + domain
        guard let jid = try? JID(address), jid.local != nil, jid.resource == nil, jid.domain == domain else {
            throw Problem(Words.badUserName(domain), at: .name)
        }
        guard !password.isEmpty else { throw Problem(Words.noPassword, at: .password) }
        for part in parts where part.isRequired {
            guard let field = part.field, (values[field] ?? "").allSatisfy(\.isWhitespace) else { continue }
            throw Problem(Words.enter(part.label), at: .field(field))
        }
        return NewAccount(jid, password: password, values: submitted)
    }

    private var submitted: [String: [String]] {
        let inputs = parts.compactMap { part in part.field.map { ($0, part.kind) } }
        return inputs.reduce(into: [:]) { submitted, input in
            let (field, kind) = input
            let value = values[field] ?? ""
            switch kind {
            case .check: submitted[field] = [value == "1" || value == "true" ? "1" : "0"]
            case .text: if !value.trimmed.isEmpty { submitted[field] = [value.trimmed] }
            case .lines, .choices:
                let lines = value.split(whereSeparator: \.isNewline).map(String.init)
                if !lines.isEmpty { submitted[field] = lines }
            case .secret, .choice: if !value.isEmpty { submitted[field] = [value] }
            case .note: break
            }
        }
    }

    /// What the server's refusal means for the form.
    public func problem(_ refusal: RegistrationError) -> Problem {
        let riddle = parts.first { $0.field != nil && ($0.picture != nil || !$0.links.isEmpty) }?.field
        switch refusal {
        case .refused(let error) where error.condition == .conflict:
            return Problem(Words.nameTaken(name.shownName), at: .name)
        case .refused(let error) where error.condition == .jidMalformed:
            return Problem(Words.badUserName(domain), at: .name)
        case .refused(let error) where riddle != nil && error.isAboutAnswer:
            return Problem(Words.wrongAnswer, at: riddle.map(Place.field) ?? .form)
        case .refused(let error) where error.kind == .wait:
            return Problem(Words.registrationLater(Self.reason(error)), at: .form)
        case .refused(let error): return Problem(Words.registrationRefused(Self.reason(error)), at: .form)
        case .expired: return Problem(Words.formExpired, at: riddle.map(Place.field) ?? .form)
        default: return Problem(Words.registrationRefused("\(refusal)".shownLine), at: .form)
        }
    }

    private static func reason(_ error: StanzaError) -> String { (error.text ?? "\(error)").shownLine }
}

extension AccountForm.Kind {
    fileprivate var labels: [String] {
        switch self {
        case .choice(let choices), .choices(let choices): choices.map(\.label)
        case .text, .secret, .lines, .check, .note: []
        }
    }
}

extension StanzaError {
    /// Whether the error is that of a wrong response to a CAPTCHA: `not-allowed` in ejabberd, `not-acceptable` in XEP-0158.
    fileprivate var isAboutAnswer: Bool { condition == .notAllowed || condition == .notAcceptable && text == nil }
}

extension AccountForm.Part {
    fileprivate init(_ field: DataForm.Field, _ form: RegistrationForm) {
        let text = (field.label ?? field.value ?? "").shownLine
        let value = field.value ?? ""
        isRequired = field.isRequired
        hint = (field.description ?? "").shownLine
        picture = form.picture(of: field)
        // A picture for programs without CAPTCHAs: the address is a value, and no question.
        let isPage = field.effectiveType == .textSingle && !field.isRequired && value.lowercased().hasPrefix("http")
        links =
            form.links(of: field).map { AccountForm.Link(label: Words.medium($0.type), address: $0.uri) }
            + (isPage ? [AccountForm.Link(label: text, address: value)] : [])
        guard field.effectiveType != .fixed, !isPage, let name = field.name else {
            (kind, self.field, label) = (.note, nil, isPage ? "" : field.values.joined(separator: "\n").shownText.text)
            return
        }
        self.field = name
        label = field.label == nil ? Words.fieldName(name) : text
        switch field.effectiveType {
        case .boolean: kind = .check
        case .textPrivate: kind = .secret
        case .textMulti, .jidMulti: kind = .lines
        case .listMulti: kind = .choices(field.options.map { AccountForm.Choice($0) })
        case .listSingle: kind = .choice(field.options.map { AccountForm.Choice($0) })
        default: kind = .text
        }
    }
}

extension AccountForm.Choice {
    fileprivate init(_ option: DataForm.Option) {
        self.init(value: option.value, label: (option.label ?? option.value).shownLine)
    }
}

/// The state of the making of an account.
public enum AccountMaking: Sendable, Equatable {
    /// The user enters the server or the invitation.
    case entering(Obstacle?)
    case connecting
    /// The user fills in the server's form.
    case filling(AccountForm.Problem?)
    case registering
    /// The account exists, and could not be stored here; the reason, described for the user.
    case unstored(String)

    /// Why no account can be made there, described for the user.
    public struct Obstacle: Sendable, Equatable {
        public let words: String
        /// A page of the web on which the server makes accounts.
        public let page: String?

        public init(_ words: String, page: String? = nil) { (self.words, self.page) = (words, page) }

        public init(_ error: any Error, _ registration: AccountRegistration) {
            let domain = registration.domain
            switch error {
            case RegistrationError.notOffered(invitations: true): self.init(Words.invitationsOnly(domain))
            case RegistrationError.notOffered: self.init(Words.registersNobody(domain))
            case RegistrationError.invitation: self.init(Words.invitationRefused)
            case RegistrationError.elsewhere(let page): self.init(Words.registersOnPage(domain), page: page.webPage)
            case LoginError.failed(let reason): self.init(Words.registrationBroken(domain, reason.shownLine))
            case let error as RegistrationError:
                self.init(Words.registrationRefused("\(error)".shownLine))
            case is LoginError, is StoreError, is DirectoryError:
                self.init(Words.problem(error, of: domain, at: registration.server.override?.description ?? domain))
            default: self.init(Words.registrationBroken(domain, "\(error)".shownLine))
            }
        }
    }
}

extension String {
    /// The text, if it is the address of a web page.
    var webPage: String? {
        ["https://", "http://"].contains { lowercased().hasPrefix($0) } && !contains(where: \.isWhitespace) ? self : nil
    }

    fileprivate var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
