/// Tells a server whether somebody looks at what comes (XEP-0352 section 4.2). Neither element is a stanza, or is
/// answered.
package enum ClientState {
    package static let namespace = Namespace.clientState
    /// Somebody looks.
    package static let active = Array("<active xmlns='\(namespace)'/>".utf8)
    /// Nobody looks.
    package static let inactive = Array("<inactive xmlns='\(namespace)'/>".utf8)
}
