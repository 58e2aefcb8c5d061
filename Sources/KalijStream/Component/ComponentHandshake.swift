import COpenSSL
import KalijText
import KalijXML

/// The opening of a component's stream (XEP-0114, 3): a header each way, a proof of the shared key, and the server's acknowledgement. A
/// value without socket and clock, like ``Negotiation``.
public struct ComponentHandshake: Sendable {
    /// The input of the handshake, from its owner.
    public enum Event {
        /// The connection is up.
        case connected
        /// The server's stream header.
        case opened(Element)
        /// A child of the stream.
        case element(Element)
        /// The server closed the stream or the connection.
        case closed
    }

    /// An action for the owner.
    public enum Action: Equatable {
        /// Write these bytes.
        case send([UInt8])
        /// Stanzas may be sent and received from now on.
        case established
    }

    /// The reason why the stream could not be established, or has ended.
    public enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
        /// The server has ended the stream with an error; `not-authorized` for a wrong key, `conflict` for a name in
        /// use, `host-unknown` for a name that the server does not serve.
        case stream(StreamError)
        /// The stream is not a component's stream; with a description.
        case protocolViolation(String)
        /// The server has closed the stream, or the connection, without an error.
        case closed

        public var description: String {
            switch self {
            case .stream(let error):
                switch error.condition {
                // ejabberd responds to an unknown name in the same way.
                case .notAuthorized: "the server does not accept the component's key, or does not know its name"
                case .conflict: "another component is connected under this name: \(error)"
                case .hostUnknown: "the server does not know the component's name: \(error)"
                default: "\(error)"
                }
            case .protocolViolation(let words): "this is no stream for components: \(words)"
            case .closed: "the server has ended the stream"
            }
        }
    }

    private enum Stage {
        case new, header, proof, established, over
    }

    /// The namespace of a component's stanzas.
    public static let namespace = "jabber:component:accept"

    private let hostname: String
    private let key: String
    private var stage = Stage.new

    /// - Parameters:
    ///   - hostname: the component's own name.
    ///   - key: the secret shared with the server.
    public init(hostname: String, key: String) {
        self.hostname = hostname
        self.key = key
    }

    /// Handles an event.
    /// - Returns: the next actions, in this order; after `.established`, nothing.
    /// - Throws: ``Problem``; the connection cannot be used any further, and every further event is an error.
    public mutating func handle(_ event: Event) throws(Problem) -> [Action] {
        do throws(Problem) {
            return try step(event)
        } catch {
            stage = .over
            throw error
        }
    }

    private mutating func step(_ event: Event) throws(Problem) -> [Action] {
        switch (stage, event) {
        case (.new, .connected):
            stage = .header
            return [.send(header())]
        case (.header, .opened(let header)): return try proof(header)
        case (.proof, .element(let element)) where element.isNamed("handshake"):
            stage = .established
            return [.established]
        case (.established, .element(let element)):
            if let error = StreamError(element) { throw .stream(error) }
            return []
        case (_, .element(let element)):
            if let error = StreamError(element) { throw .stream(error) }
            throw .protocolViolation("<\(element.name.cut(to: 40))> is not expected")
        case (_, .closed): throw .closed
        default: throw .protocolViolation("not expected")
        }
    }

    private func header() -> [UInt8] {
        // The writer escapes special characters in the name.
        let name = Element("x", attributes: ["to": hostname]).xml()
        let attribute = name.dropFirst(3).dropLast(2)
        return Array(
            ("<?xml version='1.0'?><stream:stream xmlns='\(Self.namespace)' xmlns:stream='\(Namespace.stream)' "
                + attribute + ">").utf8)
    }

    /// XEP-0114, 3: the lower-case hexadecimal SHA-1 of the stream's id and the key.
    private mutating func proof(_ header: Element) throws(Problem) -> [Action] {
        guard header.isNamed("stream", Namespace.stream), header.defaultNamespace == Self.namespace else {
            throw .protocolViolation("the server's header is for something else; is it the component port?")
        }
        stage = .proof
        // If the id is missing, an error follows the header, and is more specific.
        guard let id = header["id"] else { return [] }
        guard let hash = try? HashFunction.sha1.hash(Array((id + key).utf8)) else {
            throw .protocolViolation("SHA-1 is not available")
        }
        let hex = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return [.send(Array("<handshake>\(hex)</handshake>".utf8))]
    }
}
