import KalijStore

/// A feature with state of an account that depends on the login, or ends with the account.
public protocol AccountObserver: Feature {
    /// The server has accepted a login.
    /// - Parameter isNew: whether the login was made with a new password whose acceptance is not known yet.
    static func didLogIn(withNewPassword isNew: Bool, in step: Step) throws

    /// The server has refused the login of an account whose removal was requested.
    static func didRefuseLogin(in step: Step) throws

    /// Whether the server notifies the account's devices of messages while no process is online.
    static func isPushed(_ account: Account, in database: Database) throws -> Bool

    /// The account is about to be logged out, in a session: what has to be sent to the server before is sent here.
    /// - Returns: the names of the handlers whose responses the logout waits for.
    static func prepareLogout(in step: Step) throws -> [String]

    /// The account is logged out, and stays stored with its messages: whatever the next login restores from the server is removed.
    static func didLogOut(in step: Step) throws

    /// The account is about to be removed with all rows that refer to it.
    static func willRemoveAccount(in step: Step) throws
}

extension AccountObserver {
    public static func didLogIn(withNewPassword isNew: Bool, in step: Step) throws {}
    public static func didRefuseLogin(in step: Step) throws {}
    public static func isPushed(_ account: Account, in database: Database) throws -> Bool { false }
    public static func prepareLogout(in step: Step) throws -> [String] { [] }
    public static func didLogOut(in step: Step) throws {}
    public static func willRemoveAccount(in step: Step) throws {}
}
