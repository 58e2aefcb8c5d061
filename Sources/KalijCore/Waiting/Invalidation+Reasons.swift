import KalijHandlers

extension Invalidation {
    /// The session of the request is lost, with the answer.
    public static let sessionLost = Invalidation("session lost")
    /// The account was logged out.
    public static let loggedOut = Invalidation("logged out")
    /// The account was removed, with all its stored data.
    public static let accountRemoved = Invalidation("account removed")
    /// The requester has cancelled the request.
    public static let withdrawn = Invalidation("withdrawn")
}
