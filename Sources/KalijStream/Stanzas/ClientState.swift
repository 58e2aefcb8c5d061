/// Client state indication: whether the user observes the session (XEP-0352 section 4.2). Neither element is a stanza, and neither has
/// a response.
package enum ClientState {
    package static let namespace = Namespace.clientState
    /// The user observes the session.
    package static let active = Array("<active xmlns='\(namespace)'/>".utf8)
    /// The user does not observe the session.
    package static let inactive = Array("<inactive xmlns='\(namespace)'/>".utf8)
}
