import KalijAddress
import KalijXML

extension Negotiation {
    /// The input of a negotiation, from its owner, which has the socket, the parser, the disk and the clock.
    ///
    /// A negotiation has no timer: its owner reports a timeout.
    public enum Event {
        /// The connection is established. `secured` if inside TLS with a verified certificate already (direct TLS, XEP-0368), with the
        /// data for channel binding; nil for plain TCP. `known` is the stored state of the server at this address.
        case connected(secured: ChannelBindings?, known: KnownServer)
        /// TLS is established after `.startTLS`, and the certificate is verified.
        case secured(ChannelBindings)
        /// The server's stream header.
        case opened(Element)
        /// A child of the stream.
        case element(Element)
        /// The server closed the stream or the connection.
        case closed
        /// The response to `.plan`, to be passed immediately.
        case planned(SessionPlan)
        /// A timeout: nothing was received for the duration of one response where `isRescuable`, else for the time after which the
        /// owner abandons the connection.
        case silent
    }

    /// The actions for the owner, in this order.
    public enum Action {
        /// Write these bytes.
        case send([UInt8])
        /// Discard received bytes that are not yet parsed, then start TLS and verify the certificate; respond with `.secured`. Bytes
        /// received before TLS are not authenticated.
        case startTLS
        /// Begin to parse a new stream. After TLS received bytes are dropped. After SASL (`keepingRest`) the bytes that follow
        /// `</success>` belong to the new stream: a parser that was prepared for that (`StreamParser.expectRestart(after:)` with
        /// `Negotiation.lastElement`) has restarted already, and requires no action.
        case restartParser(keepingRest: Bool)
        /// The stream is encrypted without authentication, by configuration. All further elements are passed on as `.stanza`.
        case unauthenticated(StreamFeatures)
        /// The next bytes may contain `<resume/>` or `<bind/>`: respond with `.planned`. Always the last of a list.
        case plan
        /// The state of the server, to be stored for this address.
        case learned(KnownServer)
        /// The login has succeeded; keys and pins are to be stored.
        case authenticated(SuccessfulAuthentication)
        /// A new token, to be stored and synced before anything else is sent.
        case token(FASTToken)
        /// The server has rejected this token, which is to be deleted. The login continues.
        case tokenRefused(FASTToken)
        /// The server's features after the login, to be recorded.
        case offered(StreamFeatures)
        /// The former session is resumed; the server has handled `handled` of the sent stanzas.
        case resumed(handled: HandledCount)
        /// The former session is lost; the server had handled `handled` of the sent stanzas; nil if it has not specified that. `.bound`
        /// follows, or `.plan`, to be responded to without `resume`, or `.connectAgain`.
        case resumeFailed(handled: HandledCount?, condition: String)
        /// The end of this negotiation: the session that was to be resumed together with the login is lost, and the stream cannot be
        /// continued. Close the connection and open another immediately. (Measured: Prosody 0.12 and 13 read the client's header with
        /// the parser of the previous stream, and the following bytes with a parser that has seen no header. A resumed session is not
        /// affected: it continues with the parser of its own stream.)
        case connectAgain
        /// A new session with this address; to be committed before the following `.send`. `carbons` if they are enabled.
        case bound(JID, carbons: Bool)
        /// An element received after `.unauthenticated`. Or a stanza received after `.bound` and before the counters started: to be
        /// handled, but never counted.
        case stanza(Element)
        /// Stream management is enabled and both counters are zero; without an `id` the session cannot be resumed. `maximum` is the
        /// time in seconds for which the server keeps the session, `location` the preferred address for resuming.
        case enabled(id: String?, maximum: Int?, location: String?)
        /// The session continues without stream management.
        case enableFailed(condition: String)
        /// The end of the negotiation: from the next element on, `StreamManagement` handles the stream. `<stream:features/>` may still
        /// follow (XEP-0388 section 2.6.1).
        case established
    }

    /// The element after which a server's bytes are a new stream: SASL's `<success/>` (RFC 6120, 6.4.6).
    public static let lastElement = (name: "success", namespace: Namespace.sasl)
}
