import CSimulatedMachine
import Testing

@testable import Simulation

extension MachineTests {
    /// The simulated server behaves as the real servers do according to `Documentation/ServerFacts.md`.
    @Suite struct ServerTests {
        /// A client that writes freely.
        private final class Client {
            let world: World
            let link: Link
            private(set) var heard = ""
            private(set) var isEnded = false

            init(_ server: SimulatedServer, resource: String? = "balcony") throws {
                world = server.world
                link = try #require(server.connect())
                link.onClient = { [weak self] in self?.arrived($0) }
                say("<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>")
                say("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>AGEAYg==</auth>")
                say("<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>")
                guard let resource else { return }
                let bind = "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>\(resource)</resource></bind>"
                say("<iq type='set' id='b'>\(bind)</iq><enable xmlns='urn:xmpp:sm:3' resume='true'/><presence/>")
            }

            private func arrived(_ arrival: Link.Arrival) {
                switch arrival {
                case .bytes(let bytes): heard += String(decoding: bytes, as: UTF8.self)
                case .end, .reset: isEnded = true
                }
            }

            /// Sends, and waits a second.
            func say(_ text: String) {
                link.send(Array(text.utf8), from: .client)
                pass(1)
            }

            func pass(_ seconds: Int64) { world.run(until: world.now + seconds * 1_000_000) }

            /// The text heard since the last call.
            func hear() -> String {
                pass(1)
                defer { heard = "" }
                return heard
            }

            /// The texts of the messages heard.
            func bodies() -> [String] {
                hear().split(separator: "<body>", omittingEmptySubsequences: false).dropFirst().map {
                    String($0.prefix { $0 != "<" })
                }
            }

            func session() throws -> String {
                try #require(hear().split(separator: "enabled xmlns='urn:xmpp:sm:3' id='").last)
                    .prefix { $0 != "'" }.description
            }

            func resume(_ id: String, _ count: Int) -> String {
                say("<resume xmlns='urn:xmpp:sm:3' previd='\(id)' h='\(count)'/>")
                return hear()
            }
        }

        private func server(_ profile: Profile) -> SimulatedServer {
            machine_install()
            machine_reset(1)
            return SimulatedServer(World(seed: 1, trace: nil), profile.atEase)
        }

        @Test("what was not acknowledged is sent again after <resumed/>, what was is not", arguments: Profile.all)
        func resuming(_ profile: Profile) throws {
            let server = server(profile)
            let client = try Client(server)
            let id = try client.session()
            for body in ["one", "two"] { server.receive(body, from: "romeo@example.net/o") }
            #expect(client.bodies() == ["one", "two"])
            client.say(
                "<a xmlns='urn:xmpp:sm:3' h='1'/><message to='romeo@example.net' id='x'><body>hi</body></message>")
            client.link.cut(silently: false)
            client.pass(3)
            server.receive("three", from: "romeo@example.net/o")
            let next = try Client(server, resource: nil)
            #expect(next.resume(id, 2).contains("<resumed xmlns='urn:xmpp:sm:3' previd='\(id)' h='2'/>"))
            #expect(server.taken.map(\.body) == ["hi"])
            #expect(server.faults.isEmpty)
        }

        @Test("after a restart <resume/> gets <failed/>, with h from Prosody", arguments: Profile.all)
        func restarting(_ profile: Profile) throws {
            let server = server(profile)
            let client = try Client(server)
            let id = try client.session()
            server.restart(after: 1_000_000)
            #expect(client.hear().contains("system-shutdown"))
            #expect(client.isEnded)
            client.pass(2)
            let answer = try Client(server, resource: nil).resume(id, 0)
            let isProsody = profile.name.hasPrefix("Prosody")
            #expect(answer.contains("<failed xmlns='urn:xmpp:sm:3'\(isProsody ? " h='1'" : "")>"))
        }

        @Test("resuming with less than was acknowledged: closed, resumed or refused", arguments: Profile.all)
        func stale(_ profile: Profile) throws {
            let server = server(profile)
            let client = try Client(server)
            let id = try client.session()
            server.receive("one", from: "romeo@example.net/o")
            _ = client.hear()
            // Its own presence, a request, presence of two contacts, names of contacts, and the message.
            client.say("<a xmlns='urn:xmpp:sm:3' h='7'/>")
            client.link.cut(silently: false)
            client.pass(3)
            let next = try Client(server, resource: nil)
            let answer = next.resume(id, 0)
            switch profile.staleCount {
            case .close: #expect(next.isEnded && !answer.contains("<resumed"))
            case .fail: #expect(answer.contains("<undefined-condition"))
            case .resume: #expect(answer.contains("<resumed") && !answer.contains("<body>"))
            }
        }

        @Test(
            "what the old connection of a session says goes nowhere; ejabberd tells it why, Prosody ends it",
            arguments: Profile.all)
        func conflict(_ profile: Profile) throws {
            let server = server(profile)
            let client = try Client(server)
            let id = try client.session()
            #expect(try Client(server, resource: nil).resume(id, 0).contains("<resumed"))
            client.say("<message to='romeo@example.net' id='x'><body>into the void</body></message>")
            #expect(server.taken.isEmpty)
            #expect(client.isEnded)
            #expect(client.heard.contains("<conflict") == profile.name.hasPrefix("ejabberd"))
        }

        @Test("Prosody 0.12 closes the connection that resumes a session over its limit")
        func overflow() throws {
            let server = server(.prosody12)
            let client = try Client(server)
            let id = try client.session()
            client.link.cut(silently: false)
            client.pass(3)
            for number in 0...(Profile.prosody12.queueLimit ?? 0) {
                server.receive("\(number)", from: "romeo@example.net/o")
            }
            let next = try Client(server, resource: nil)
            #expect(!next.resume(id, 0).contains("<resumed"))
            #expect(next.isEnded)
        }

        @Test("an archive gives pages behind a message, the last one complete; none behind what it does not have")
        func paging() throws {
            let server = server(.prosody13)
            let client = try Client(server)
            for number in 1...5 { server.receive("\(number)", from: "romeo@example.net/o") }
            _ = client.hear()
            func page(_ after: String) -> String {
                client.say(
                    """
                    <iq type='set' id='p'><query xmlns='urn:xmpp:mam:2'><set xmlns='http://jabber.org/protocol/rsm'>\
                    <max>2</max>\(after.isEmpty ? "" : "<after>\(after)</after>")</set></query></iq>
                    """)
                return client.hear()
            }
            let ids = server.archive.messages.map(\.id)
            let first = page("")
            #expect(first.contains("<last>\(ids[1])</last>") && !first.contains("complete='true'"))
            let last = page(ids[3])
            #expect(last.contains("<body>5</body>") && last.contains("complete='true'"))
            #expect(page("nonsense").contains("<item-not-found"))
            let empty = page(ids[4])
            #expect(empty.contains("complete='true'") && !empty.contains("<last>"))
        }

        @Test("a message for another resource alone is archived and not delivered")
        func hidden() throws {
            let server = server(.ejabberd23)
            let client = try Client(server)
            _ = client.hear()
            server.receive("private", from: "romeo@example.net/o", isHidden: true)
            #expect(client.hear().isEmpty)
            #expect(server.archive.messages.map(\.body) == ["private"])
        }
    }
}

extension Profile: CustomTestStringConvertible {
    public var testDescription: String { name }
}
