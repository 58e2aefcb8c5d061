import KalijAddress
import KalijXML

extension Negotiation {
    /// The input of a negotiation, from its owner. The owner has the socket, the parser, the disk and the clock.
    ///
    /// A negotiation has no timer: its owner tells that nothing has come for long.
    public enum Event {
        /// The connection is up. `secured` if inside TLS with a verified certificate already (direct TLS, XEP-0368), with
        /// the data for channel binding; nil for plain TCP. `known` is what was learned at this address.
        case connected(secured: ChannelBindings?, known: KnownServer)
        /// TLS is up after `.startTLS`, and the certificate is verified.
        case secured(ChannelBindings)
        /// The server's stream header.
        case opened(Element)
        /// A child of the stream.
        case element(Element)
        /// The server closed the stream or the connection.
        case closed
        /// Answers `.plan`, at once.
        case planned(SessionPlan)
        /// Nothing has come for longer than an answer takes: for the time of one answer where `isRescuable`, else for the time
        /// after which the owner gives the connection up.
        case silent
    }

    /// The owner's tasks, in this order.
    public enum Action {
        /// Write these bytes.
        case send([UInt8])
        /// Throw away received bytes that are not yet parsed, then start TLS and verify the certificate; answer with
        /// `.secured`. Bytes read before TLS may be anyone's.
        case startTLS
        /// Begin to parse a new stream. After TLS received bytes are dropped. After SASL (`keepingRest`) the bytes that
        /// follow `</success>` are the new stream's: a parser that was told so before
        /// (`StreamParser.expectRestart(after:)` with `Negotiation.lastElement`) has begun already, and nothing is to be
        /// done.
        case restartParser(keepingRest: Bool)
        /// The stream is encrypted, and nobody is authenticated: the configuration says so. All further elements are told.
        case unauthenticated(StreamFeatures)
        /// The next bytes may carry `<resume/>` or `<bind/>`: answer with `.planned`. Always the last of a list.
        case plan
        /// To be stored for this address.
        case learned(KnownServer)
        /// Logged in; keys and pins are to be stored.
        case authenticated(SuccessfulAuthentication)
        /// A new token, to be stored and synced before anything else leaves.
        case token(FASTToken)
        /// The server does not take this token: forget it. The login goes on.
        case tokenRefused(FASTToken)
        /// The server's features after the login, to be noted.
        case offered(StreamFeatures)
        /// The former session goes on; `handled` of our stanzas have reached the server.
        case resumed(handled: HandledCount)
        /// The former session is lost; `handled` of our stanzas had reached the server; nil if the server does not say. Then
        /// `.bound` follows, or `.plan`, to be answered without `resume`, or `.connectAgain`.
        case resumeFailed(handled: HandledCount?, condition: String)
        /// The end of this negotiation: the session that was asked for together with the login is lost, and the stream cannot
        /// go on. Close the connection and make another at once. (Measured: Prosody 0.12 and 13 read our header with the
        /// parser of the stream before, and what follows with a parser that has seen no header. A resumed session is not
        /// affected: there the parser of its own stream goes on.)
        case connectAgain
        /// A new session under this address; to be committed before the following `.send`. `carbons` if they are enabled.
        case bound(JID, carbons: Bool)
        /// An element received after `.unauthenticated`. Or a stanza received after `.bound` and before the counters
        /// started: to be handled, never to be counted.
        case stanza(Element)
        /// Stream management is on and both counters are zero; without an `id` the session cannot be resumed. `maximum`
        /// is the time in seconds for which the server keeps the session, `location` the address to try first when
        /// resuming.
        case enabled(id: String?, maximum: Int?, location: String?)
        /// The session goes on without stream management.
        case enableFailed(condition: String)
        /// The end of the negotiation: from the next element on, `StreamManagement` reads the stream. `<stream:features/>`
        /// may still come (XEP-0388 section 2.6.1).
        case established
    }

    /// The element after which a server's bytes are a new stream: SASL's `<success/>` (RFC 6120, 6.4.6).
    public static let lastElement = (name: "success", namespace: Namespace.sasl)
}
