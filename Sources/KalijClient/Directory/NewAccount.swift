import KalijAddress

/// An account to be made: the response to a server's registration form.
public struct NewAccount: Sendable, Equatable {
    /// The address of the account.
    public let jid: JID
    /// The password of the account.
    public let password: String
    /// The values of the form's other fields, by name.
    public let values: [String: [String]]

    /// - Parameters:
    ///   - jid: the address of the account; a resource is ignored.
    ///   - password: the password of the account.
    ///   - values: the values of the form's other fields, by name.
    public init(_ jid: JID, password: String, values: [String: [String]] = [:]) {
        (self.jid, self.password, self.values) = (jid.bare, password, values)
    }
}
