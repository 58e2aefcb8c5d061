import CSimulatedMachine
import KalijStream
import Testing

@testable import Simulation

extension MachineTests {
    /// The simulated server lets clients in as the real servers do (`Documentation/ServerFacts.md`).
    @Suite struct LoginTests {
        /// A client that writes freely.
        private final class Client {
            let world: World
            let link: Link
            private(set) var heard = ""

            init(_ server: SimulatedServer) throws {
                world = server.world
                link = try #require(server.connect())
                link.onClient = { [weak self] arrival in
                    if case .bytes(let bytes) = arrival { self?.heard += String(decoding: bytes, as: UTF8.self) }
                }
            }

            /// Sends in one piece, and waits a second.
            func say(_ text: String) -> String {
                heard = ""
                link.send(Array(text.utf8), from: .client)
                world.run(until: world.now + 1_000_000)
                return heard
            }
        }

        private static let header =
            "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'"
        private static let resume = "<resume xmlns='urn:xmpp:sm:3' previd='none' h='0'/>"

        private func server(_ profile: Profile) -> SimulatedServer {
            machine_install()
            machine_reset(1)
            return SimulatedServer(World(seed: 3, trace: nil), profile.atEase)
        }

        @Test(
            "what comes with the proof is read by Prosody, and thrown away by ejabberd, which reads it when it comes again",
            arguments: Profile.all)
        func proof(_ profile: Profile) throws {
            let server = server(profile)
            let client = try Client(server)
            let isProsody = profile.name.hasPrefix("Prosody")
            let mechanism = isProsody ? SASLMechanism.scramSHA1 : .scramSHA256
            var scram = try SCRAM(
                mechanism: mechanism, username: "juliet", credentials: .password("secret"), nonce: "0123456789abcdef")
            let first = SimulatedSASL.text(scram.firstMessage)
            let sasl = "urn:ietf:params:xml:ns:xmpp-sasl"
            let begun = client.say("\(Self.header)><auth xmlns='\(sasl)' mechanism='\(mechanism)'>\(first)</auth>")
            let text = try #require(
                begun.split(separator: "<challenge xmlns='\(sasl)'>").last?.split(separator: "<").first)
            let challenge = String(decoding: SimulatedSASL.bytes(String(text)), as: UTF8.self)
            let response = SimulatedSASL.text(try scram.respond(to: challenge))
            // Bytes may arrive in pieces: then ejabberd's parser fails, as the real one would.
            let answer = client.say("<response xmlns='\(sasl)'>\(response)</response>\(Self.header)>\(Self.resume)")
            #expect(answer.contains("<success"))
            #expect(answer.contains("<failed") == isProsody)
            guard !isProsody else { return }
            #expect(client.say("<?xml version='1.0'?>\(Self.header)>\(Self.resume)").contains("<failed"))
        }

        @Test("without a name in the header Prosody 13 offers no tokens, and ejabberd 24.12 no SASL2")
        func naming() throws {
            for (profile, without) in [(Profile.prosody13, "urn:xmpp:fast:0"), (.ejabberd24, "urn:xmpp:sasl:2")] {
                let server = server(profile)
                #expect(try !Client(server).say(Self.header + ">").contains(without))
                let named = try Client(server).say(Self.header + " from='juliet@example.org'>")
                #expect(named.contains(without) && named.contains("HT-SHA-256-EXPR"))
            }
        }
    }
}
