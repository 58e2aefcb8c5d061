import KalijText
import KalijXML

/// A server's registration form (XEP-0077 sections 3.1 and 4): a data form, or the older list of fields.
public struct RegistrationForm: Sendable, Equatable {
    /// The server's instructions, a line each.
    public let instructions: [String]
    /// The fields for a person to fill in, in their order: all except user name and password.
    public let fields: [DataForm.Field]
    /// The parts to display, in their order: ``fields``, and between them texts of the type `fixed`.
    public let parts: [DataForm.Field]
    /// An address at which the registration continues, outside of XMPP (XEP-0066); nil if the server specifies none.
    public let link: String?

    private enum Style: Sendable, Equatable {
        case form(DataForm)
        case list([String])
    }
    private let style: Style
    /// The pictures that accompany the form, by their `cid:` URI (XEP-0231).
    let pictures: [ExactText: [UInt8]]

    /// The fields of the older list (XEP-0077 section 14.1).
    private static let known: Set = [
        "username", "nick", "password", "name", "first", "last", "email", "address", "city", "state", "zip", "phone",
        "url",
        "date", "misc", "text", "key",
    ]
    /// The maximum number of fields, and of options of which several can be chosen: a person has to fill them in.
    private static let maxQuestions = 60
    /// The maximum number of options of which one is chosen.
    private static let maxOptions = 1_000

    /// Parses the server's response.
    /// - Throws: `RegistrationError`, `.elsewhere` if an account can only be registered at an address of the web.
    public init(_ answer: Element) throws(RegistrationError) {
        guard let query = answer.child("query", Registration.namespace) else { throw .invalidAnswer("no questions") }
        link = query.child("x", "jabber:x:oob")?.child("url")?.text
        pictures = Self.pictures(in: query.children + answer.children)
        let form = Self.form(in: query)
        let names = query.children.map(\.name).filter(Self.known.contains)
        guard form.map(Self.isAnswerable) ?? (names.count <= Self.maxQuestions) else {
            throw .invalidAnswer("too many questions")
        }
        let told = query.child("instructions", Registration.namespace).map { [$0.text] } ?? []
        if let form {
            (style, instructions) = (.form(form), form.instructions.isEmpty ? told : form.instructions)
            parts = form.fields.filter { Self.isDisplayed($0) }
            fields = parts.filter { $0.effectiveType != .fixed }
        } else if names.contains("username") {
            (style, instructions) = (.list(names), told)
            parts = names.filter { $0 != "username" && $0 != "password" }
                .map { DataForm.Field($0, .textSingle, isRequired: true) }
            fields = parts
        } else if let link {
            throw .elsewhere(link)
        } else {
            throw .invalidAnswer("no questions" + (told.first.map { ": \($0)" } ?? ""))
        }
    }

    private static func form(in query: Element) -> DataForm? {
        guard let element = query.child("x", "jabber:x:data"), let form = try? DataForm(element), form.type == .form
        else {
            return nil
        }
        return form
    }

    private static func isAnswerable(_ form: DataForm) -> Bool {
        let several = form.fields.filter { $0.effectiveType == .listMulti }
        return form.fields.count + several.reduce(0) { $0 + $1.options.count } <= maxQuestions
            && form.fields.reduce(0) { $0 + $1.options.count } <= maxOptions
    }

    private static func isDisplayed(_ field: DataForm.Field) -> Bool {
        field.name != "username" && field.name != "password" && field.effectiveType != .hidden
    }

    /// The submission with `values` by the names of fields.
    /// - Throws: `RegistrationError.field` if a value is missing or invalid, or its field is not in the form.
    func query(username: String, password: String, _ values: [String: [String]]) throws(RegistrationError) -> Element {
        if let name = values.keys.sorted().first(where: { name in !fields.contains { $0.name == name } }) {
            throw .field("the server does not ask for \"\(name)\"")
        }
        let query = Element("query", xmlns: Registration.namespace)
        switch style {
        case .form(let form): query.add(try submission(of: form, username, password, values).element)
        case .list(let names):
            for name in names {
                let text = ["username": username, "password": password][name] ?? values[name]?.joined(separator: "\n")
                guard let text else { throw .field("the server wants \"\(name)\"") }
                query.add(Element(name, xmlns: Registration.namespace, text: text))
            }
        }
        return query
    }

    private func submission(
        of form: DataForm, _ username: String, _ password: String, _ values: [String: [String]]
    ) throws(RegistrationError) -> DataForm {
        var form = form
        do {
            if form["username"] != nil { try form.fill("username", with: username) }
            if form["password"] != nil { try form.fill("password", with: password) }
            for (name, value) in values { try form.fill(name, with: value) }
            return try form.submission()
        } catch { throw .field("\(error)") }
    }
}
