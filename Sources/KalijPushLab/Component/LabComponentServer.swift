import COpenSSL
import Glibc
import KalijXML
import Synchronization

/// A stand-in for an XMPP server, as seen by a component (XEP-0114): sends publishes and keeps the answers.
public final class LabComponentServer: Sendable {
    /// How a publish was answered.
    public struct Answer: Sendable, Equatable {
        /// `result`, or the type of the error.
        public var type: String
        /// The error's condition; empty for a result.
        public var condition: String
        /// Seconds between the publish and the answer.
        public var seconds: Double
    }

    private struct State {
        var peer: Int32 = -1
        var isReady = false
        var connections = 0
        var sent: [String: Double] = [:]
        var answers: [String: Answer] = [:]
        var repeated = 0
        var last = 0
        var isStopped = false
    }

    public let port: Int
    private let listener: Int32
    private let key: String
    private let state = Mutex(State())
    private let thread = Mutex<LabThread?>(nil)

    /// Listens on 127.0.0.1; port 0 takes a free port.
    public init(key: String, port: Int = 0) throws {
        signal(SIGPIPE, SIG_IGN)
        self.key = key
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(clamping: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            // The C interface requires the generic form of a sockaddr_in, together with its size.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 4) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw LabError("cannot listen on port \(port)") }
        listener = descriptor
        self.port = Int(UInt16(bigEndian: address.sin_port))
        let serving = LabThread { [weak self] in
            while let self, case let peer = Glibc.accept(descriptor, nil, nil), peer >= 0 { self.serve(peer) }
        }
        thread.withLock { $0 = serving }
    }

    /// Ends the connection and listening. Later calls do nothing: the descriptor may be another's then.
    public func stop() {
        let wasStopped = state.withLock { state in
            defer { state.isStopped = true }
            return state.isStopped
        }
        guard !wasStopped else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        cut()
        thread.withLock { $0?.join() }
        close(listener)
    }

    /// Cuts the connection off.
    public func cut() {
        state.withLock { state in
            if state.peer >= 0 { shutdown(state.peer, Int32(SHUT_RDWR)) }
            state.isReady = false
        }
    }

    /// Ends the stream in order, like a server that shuts down: the peer gets everything sent before, and its answers are read
    /// until the peer has closed its side.
    public func endStream() {
        let peer = state.withLock { state in
            state.isReady = false
            return state.peer
        }
        guard peer >= 0 else { return }
        send("</stream:stream>")
        shutdown(peer, Int32(SHUT_WR))
    }

    public var isReady: Bool { state.withLock { $0.isReady } }
    public var connections: Int { state.withLock { $0.connections } }
    /// Answers to publishes that were answered before, or never sent.
    public var repeated: Int { state.withLock { $0.repeated } }
    public var answered: Int { state.withLock { $0.answers.count } }
    public var unanswered: Int { state.withLock { $0.sent.count - $0.answers.count } }

    public func answer(_ id: String) -> Answer? { state.withLock { $0.answers[id] } }

    /// The answers' times in seconds, shortest first.
    public var times: [Double] { state.withLock { $0.answers.values.map(\.seconds).sorted() } }

    /// Begins anew with counting; for measurements.
    public func forgetAnswers() {
        state.withLock { state in
            state.sent = [:]
            state.answers = [:]
        }
    }

    /// The answers so far, which are then dropped. For long measurements.
    public func takeAnswers() -> [Answer] {
        state.withLock { state in
            let answers = Array(state.answers.values)
            for id in state.answers.keys { state.sent[id] = nil }
            state.answers = [:]
            return answers
        }
    }

    /// The ids that have waited for an answer for so many seconds or longer.
    public func unanswered(for seconds: Double) -> Set<String> {
        let latest = LabAPNs.now() - seconds
        return state.withLock { state in
            Set(state.sent.filter { $0.value <= latest && state.answers[$0.key] == nil }.keys)
        }
    }

    /// No answer is awaited any more.
    public func forget(_ ids: Set<String>) {
        state.withLock { state in for id in ids { state.sent[id] = nil } }
    }

    /// Waits for the answer to something.
    public func wait(for id: String, seconds: Double = LabLimits.hang) -> Answer? {
        wait(seconds: seconds) { self.answer(id) != nil }
        return answer(id)
    }

    /// Waits for something to become true.
    /// - Parameter seconds: when the wait counts as hung.
    @discardableResult
    public func wait(seconds: Double = LabLimits.hang, until condition: () -> Bool) -> Bool {
        let end = LabAPNs.now() + seconds
        while !condition() {
            if LabAPNs.now() > end { return false }
            usleep(2_000)
        }
        return true
    }

    /// Sends a publish in Prosody's form.
    /// - Returns: the iq's id.
    @discardableResult
    public func publish(
        _ token: String, module: String? = nil, important: Bool = true, domain: String = "example.org"
    ) -> String {
        let (id, text) = makePublish(token, module: module, important: important, domain: domain)
        send(text)
        return id
    }

    /// A publish in Prosody's form, for ``send(_:)``.
    public func makePublish(
        _ token: String, module: String? = nil, important: Bool = true, domain: String = "example.org"
    ) -> (id: String, text: String) {
        let id = makeID()
        let options =
            module.map {
                """
                <publish-options><x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE'><value>\
                http://jabber.org/protocol/pubsub#publish-options</value></field><field var='pushModule'>\
                <value>\($0)</value></field></x></publish-options>
                """
            } ?? ""
        let body = important ? "<value>New Message!</value>" : ""
        return (
            id,
            """
            <iq type='set' id='\(id)' from='\(domain)' to='push.localhost'><pubsub \
            xmlns='http://jabber.org/protocol/pubsub'><publish node='\(token)'><item><notification \
            xmlns='urn:xmpp:push:0'><x xmlns='jabber:x:data' type='form'><field type='hidden' var='FORM_TYPE'>\
            <value>urn:xmpp:push:summary</value></field><field var='message-count' type='text-single'>\
            <value>1</value></field><field var='pending-subscription-count' type='text-single'/><field \
            var='last-message-sender' type='text-single'/><field var='last-message-body' type='text-single'>\(body)\
            </field></x></notification></item></publish>\(options)</pubsub></iq>
            """
        )
    }

    /// Sends text unchanged.
    public func send(_ text: String) {
        let bytes = Array(text.utf8)
        let peer = state.withLock { $0.peer }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            sent += count
        }
    }

    /// A new id with an awaited answer.
    public func makeID() -> String {
        state.withLock { state in
            state.last += 1
            // In ejabberd's form.
            let id = "rr-\(state.last)+/="
            state.sent[id] = LabAPNs.now()
            return id
        }
    }

    // MARK: The stream

    private func serve(_ peer: Int32) {
        var on: Int32 = 1
        setsockopt(peer, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        let isWanted = state.withLock { state in
            state.peer = peer
            return !state.isStopped
        }
        let parser = StreamParser()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while isWanted, case let count = recv(peer, &buffer, buffer.count, 0), count > 0 {
            do {
                try buffer.withUnsafeBytes { bytes in
                    try parser.feed(UnsafeRawBufferPointer(rebasing: bytes[..<count])) { handle($0) }
                }
            } catch { break }
        }
        state.withLock { state in
            state.peer = -1
            state.isReady = false
        }
        close(peer)
    }

    private func handle(_ event: StreamParserEvent) {
        switch event {
        case .opened:
            send(
                """
                <stream:stream xmlns='jabber:component:accept' xmlns:stream='http://etherx.jabber.org/streams' \
                id='lab' from='push.localhost'>
                """)
        case .element(let element) where element.name == "handshake": accept(element.text)
        case .element(let element) where element.name == "iq": keep(element)
        case .element, .skipped, .closed: break
        }
    }

    private func accept(_ proof: String) {
        var hash = [UInt8](repeating: 0, count: 20)
        let input = Array(("lab" + key).utf8)
        EVP_Digest(input, input.count, &hash, nil, EVP_sha1(), nil)
        let expected = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        guard proof == expected else {
            send(
                """
                <stream:error><not-authorized xmlns='urn:ietf:params:xml:ns:xmpp-streams'/></stream:error>\
                </stream:stream>
                """)
            return cut()
        }
        send("<handshake/>")
        state.withLock { state in
            state.isReady = true
            state.connections += 1
        }
    }

    private func keep(_ iq: Element) {
        let error = iq.child("error")
        state.withLock { state in
            guard let id = iq["id"], let asked = state.sent[id], state.answers[id] == nil else {
                state.repeated += 1
                return
            }
            state.answers[id] = Answer(
                type: error?["type"] ?? iq["type"] ?? "", condition: error?.children.first?.name ?? "",
                seconds: LabAPNs.now() - asked)
        }
    }
}

/// Limits of the laboratory.
public enum LabLimits {
    /// The seconds after which a wait counts as hung. A busy machine takes long, and that is no fault.
    public static let hang = 400.0
}
