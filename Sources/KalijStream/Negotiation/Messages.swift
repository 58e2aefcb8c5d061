import KalijAddress
import KalijXML

extension Negotiation {
    /// The input of a negotiation, from its owner. The owner has the socket, the parser, the disk and the clock.
    ///
    /// A negotiation has no timer: an owner that waited long enough drops the negotiation and the connection.
    public enum Event {
        /// The connection is up; `secured` if inside TLS with a verified certificate already (direct TLS, XEP-0368).
        case connected(secured: Bool)
        /// TLS is up after `.startTLS`, and the certificate is verified.
        case secured
        /// The server's stream header.
        case opened(Element)
        /// A child of the stream.
        case element(Element)
        /// The server closed the stream or the connection.
        case closed
        /// Answers `.choose`: go on with a former session. Every stanza counted in `handled` must be stored in a way
        /// that survives a power failure.
        case resume(id: String, handled: HandledCount)
        /// Answers `.choose` or `.resumeFailed`: start a new session; for a nil resource the server chooses the name.
        case bind(resource: String?)
        /// Answers `.bound`, if the server offers stream management; `maximum` is the preferred time in seconds for
        /// which the server keeps the session of a lost connection. Later stanzas of ours are counted; wait for
        /// `.enabled` to be stored before sending any.
        case enableStreamManagement(resumable: Bool, maximum: Int?)
        /// Answers `.bound`: go on without stream management.
        case withoutStreamManagement
    }

    /// The owner's tasks, in this order.
    public enum Action {
        /// Write these bytes.
        case send([UInt8])
        /// Throw away received bytes that are not yet parsed, then start TLS and verify the certificate; answer with
        /// `.secured`. Bytes read before TLS may be anyone's.
        case startTLS
        /// Begin to parse a new stream; drop received bytes that are not yet parsed.
        case restartParser
        /// The stream is encrypted, and nobody is authenticated: the configuration says so. All further elements are told.
        case unauthenticated(StreamFeatures)
        /// The server and we have proven to each other that we know the password. To be stored: the mechanism, as the
        /// weakest accepted from now on, and the keys (nil with PLAIN).
        case authenticated(SASLMechanism, keys: SCRAMKeys?)
        /// Answer with `.resume` (at most once) or `.bind`.
        case choose(StreamFeatures)
        /// The former session goes on; `handled` of our stanzas have reached the server.
        case resumed(handled: HandledCount)
        /// The former session is lost; answer with `.bind`. `handled` of our stanzas had reached the server; nil if the
        /// server does not say.
        case resumeFailed(handled: HandledCount?, condition: String)
        /// A new session under this address. Answer with `.enableStreamManagement` or `.withoutStreamManagement`, if
        /// the server offered stream management.
        case bound(JID)
        /// An element received after `.unauthenticated`. Or a stanza received after `.bound` and before the counters started: to be handled, never to be counted.
        case stanza(Element)
        /// Stream management is on and both counters are zero; without an `id` the session cannot be resumed. `maximum`
        /// is the time in seconds for which the server keeps the session, `location` the address to try first when
        /// resuming.
        case enabled(id: String?, maximum: Int?, location: String?)
        /// The session goes on without stream management.
        case enableFailed(condition: String)
        /// The end of the negotiation: from the next element on, `StreamManagement` reads the stream.
        case established
    }
}
