import Foundation
import KalijStream
import Testing

/// An exchange: the messages in the order of sending.
struct SCRAMExchange: Sendable {
    let mechanism: SASLMechanism
    let nonce: String
    let clientFirst: String
    let serverFirst: String
    let clientFinal: String
    let serverFinal: String

    /// RFC 5802, 5: the user "user" with the password "pencil".
    static let sha1 = SCRAMExchange(
        mechanism: .scramSHA1, nonce: "fyko+d2lbbFgONRv9qkxdawL", clientFirst: "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
        serverFirst: "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
        clientFinal: "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
        serverFinal: "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=")

    /// RFC 7677, 3: the same user.
    static let sha256 = SCRAMExchange(
        mechanism: .scramSHA256, nonce: "rOprNGfwEbeRWgbNEkqO", clientFirst: "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
        serverFirst: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        clientFinal: "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
            + "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        serverFinal: "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")

    /// No RFC has an example: the values of RFC 7677, 3, with SHA-512, computed with Python's hashlib and hmac.
    static let sha512 = SCRAMExchange(
        mechanism: .scramSHA512, nonce: "rOprNGfwEbeRWgbNEkqO", clientFirst: "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
        serverFirst: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        clientFinal: "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
            + "p=gMGXRcevScNtxZ6/8lQYpGtnsNAc3mGcmNomv+xnoOMw+3R2xNJdMNnzMlTN8PPC6wdp6dybEmDYXYTxwnYPJQ==",
        serverFinal: "v=ZQnYEgWQMFmmsM8aQMF0nDDCy/AgCzkwk8CmMZYcMg0vSVlKDanekLtifDSeVGT4+5ZxXnJq199RVG2rR7N7Zw==")

    func start(_ credentials: Credentials = .password("pencil")) throws -> SCRAM {
        try SCRAM(mechanism: mechanism, username: "user", credentials: credentials, nonce: nonce)
    }

    /// Ends with the stored keys.
    func complete() throws -> SCRAMKeys? {
        var scram = try start()
        _ = try scram.respond(to: serverFirst)
        try scram.verify(serverFinal)
        return scram.keys
    }
}

@Suite("SCRAM")
struct SCRAMTests {
    @Test(
        "RFC 5802, 5, RFC 7677, 3, and the same with SHA-512",
        arguments: [SCRAMExchange.sha1, .sha256, .sha512])
    func vectors(exchange: SCRAMExchange) throws {
        var scram = try exchange.start()
        #expect(scram.firstMessage == exchange.clientFirst)
        #expect(try scram.respond(to: exchange.serverFirst) == exchange.clientFinal)
        #expect(scram.keys == nil, "nothing is to be stored before the server is known to be the server")
        try scram.verify(exchange.serverFinal)
        #expect(scram.keys?.mechanism == exchange.mechanism && scram.keys?.iterations == 4096)
    }

    @Test("a user name with special characters, a password with an emoji (computed with Python's hashlib)")
    func preparation() throws {
        var scram = try SCRAM(
            mechanism: .scramSHA256, username: "a,b=\u{2168}", credentials: .password("p\u{A0}🍺"), nonce: "abc")
        #expect(scram.firstMessage == "n,,n=a=2Cb=3DIX,r=abc")
        let final = try scram.respond(to: "r=abcdef,s=c2FsdA==,i=5000")
        #expect(final == "c=biws,r=abcdef,p=BHIjUqOGYazoIGxxOg9qPEoJDiOQFWqxSAG9uImLxiU=")
        try scram.verify("v=S+NTJsOhjv/i90B1XQNN5YnMg0jCvGcfxhhQRuULvLQ=,x=an optional extension")
    }

    @Test("the stored keys give the same proof as the password", arguments: [SCRAMExchange.sha1, .sha256, .sha512])
    func keys(exchange: SCRAMExchange) throws {
        let keys = try #require(try exchange.complete())
        let stored = try JSONDecoder().decode(SCRAMKeys.self, from: JSONEncoder().encode(keys))
        var scram = try exchange.start(.keys(stored))
        #expect(try scram.respond(to: exchange.serverFirst) == exchange.clientFinal)
        try scram.verify(exchange.serverFinal)
        #expect(scram.keys == keys)
    }

    @Test(
        "stored keys do not fit another salt or iteration count: the password is needed",
        arguments: [("s=W22ZaJ0SNY7soEsUEjb6gQ==", "s=AAAA"), ("i=4096", "i=4097")])
    func otherSalt(old: String, new: String) throws {
        let exchange = SCRAMExchange.sha256
        let keys = try #require(try exchange.complete())
        var scram = try exchange.start(.keys(keys))
        #expect(throws: AuthenticationError.passwordNeeded(.serverChangedSalt)) {
            try scram.respond(to: exchange.serverFirst.replacingOccurrences(of: old, with: new))
        }
        #expect(throws: AuthenticationError.passwordNeeded(.mechanismNotOffered)) {
            try SCRAM(mechanism: .scramSHA1, username: "user", credentials: .keys(keys), nonce: "x")
        }
    }

    @Test("RFC 5802, 5: the client authenticates the server by its signature")
    func wrongSignature() throws {
        let exchange = SCRAMExchange.sha1
        for signature in ["v=rmF9pqV8S7suAoZWja4dJRkFsKA=", "v=", "v=rmF9", SCRAMExchange.sha256.serverFinal] {
            var scram = try exchange.start()
            _ = try scram.respond(to: exchange.serverFirst)
            #expect(throws: AuthenticationError.wrongServerSignature) { try scram.verify(signature) }
            #expect(scram.keys == nil)
        }
    }

    @Test(
        "RFC 5802, 7: forbidden first messages of a server",
        arguments: [
            "", ",", "r", "r=", "r=ABCdef", "r=ABCdef,s=c2FsdA==", "s=c2FsdA==,r=ABCdef,i=4096",
            // The nonce is another's, ours alone, ours in other letters, or goes on with forbidden characters.
            "r=def,s=c2FsdA==,i=4096", "r=ABC,s=c2FsdA==,i=4096", "r=abcdef,s=c2FsdA==,i=4096",
            "r=ABCd f,s=c2FsdA==,i=4096", "r=ABCdéf,s=c2FsdA==,i=4096", "r=ABC\u{301}x,s=c2FsdA==,i=4096",
            "r=xABCdef,s=c2FsdA==,i=4096",
            // Salt.
            "r=ABCdef,s=,i=4096", "r=ABCdef,s=c2F,i=4096", "r=ABCdef,s=c2F*,i=4096", "r=ABCdef,x=c2FsdA==,i=4096",
            // Iteration count.
            "r=ABCdef,s=c2FsdA==,i=", "r=ABCdef,s=c2FsdA==,i=-4096", "r=ABCdef,s=c2FsdA==,i=+4096",
            "r=ABCdef,s=c2FsdA==,i=04096", "r=ABCdef,s=c2FsdA==,i=4096.0", "r=ABCdef,s=c2FsdA==,i=0x1000",
            "r=ABCdef,s=c2FsdA==,i=99999999999999999999999",
            // An unknown mandatory extension makes the authentication fail; everything after must be an extension.
            "m=x,r=ABCdef,s=c2FsdA==,i=4096", "r=ABCdef,s=c2FsdA==,i=4096,m=x", "r=ABCdef,s=c2FsdA==,i=4096,",
            "r=ABCdef,s=c2FsdA==,i=4096,1=x", "r=ABCdef,s=c2FsdA==,i=4096,x",
        ])
    func invalidFirstMessages(message: String) throws {
        var scram = try SCRAM(mechanism: .scramSHA1, username: "user", credentials: .password("x"), nonce: "ABC")
        do {
            _ = try scram.respond(to: message)
            Issue.record("\(message) was accepted")
        } catch AuthenticationError.invalidMessage(let what) {
            #expect(!what.isEmpty)
        }
    }

    @Test("RFC 7677, 4: at least 4096 iterations; and not so many that the client hangs")
    func iterations() throws {
        for count in [1, 1000, 4095, 10_000_001, 2_147_483_648, 1 << 40] {
            var scram = try SCRAM(mechanism: .scramSHA1, username: "user", credentials: .password("x"), nonce: "ABC")
            #expect(throws: AuthenticationError.iterationsOutOfBounds(count)) {
                try scram.respond(to: "r=ABCdef,s=c2FsdA==,i=\(count)")
            }
        }
    }

    @Test("RFC 5802, 7: errors of the server")
    func serverErrors() throws {
        let exchange = SCRAMExchange.sha256
        var scram = try exchange.start()
        _ = try scram.respond(to: exchange.serverFirst)
        #expect(throws: AuthenticationError.refusedByServer(reason: "invalid-proof")) {
            try scram.verify("e=invalid-proof")
        }
        var early = try exchange.start()
        #expect(throws: AuthenticationError.refusedByServer(reason: "unknown-user")) {
            try early.respond(to: "e=unknown-user")
        }
    }

    @Test("messages out of order are refused")
    func order() throws {
        let exchange = SCRAMExchange.sha256
        var scram = try exchange.start()
        #expect(throws: AuthenticationError.self) { try scram.verify(exchange.serverFinal) }
        _ = try scram.respond(to: exchange.serverFirst)
        #expect(throws: AuthenticationError.self) { try scram.respond(to: exchange.serverFirst) }
        try scram.verify(exchange.serverFinal)
        #expect(throws: AuthenticationError.self) { try scram.verify(exchange.serverFinal) }
    }

    @Test("unusable beginnings")
    func invalidStart() throws {
        for nonce in ["", "a,b", "a b", "é"] {
            #expect(throws: AuthenticationError.invalidNonce) {
                try SCRAM(mechanism: .scramSHA1, username: "user", credentials: .password("x"), nonce: nonce)
            }
        }
        #expect(throws: AuthenticationError.self) {
            try SCRAM(mechanism: .plain, username: "user", credentials: .password("x"), nonce: "n")
        }
        #expect(throws: AuthenticationError.self) {
            try SCRAM(mechanism: .scramSHA1, username: "\u{7}", credentials: .password("x"), nonce: "n")
        }
        for password in ["", "a\u{0}b", "\u{AD}"] {
            var scram = try SCRAM(
                mechanism: .scramSHA1, username: "user", credentials: .password(password), nonce: "ABC")
            #expect(throws: AuthenticationError.invalidPassword) {
                try scram.respond(to: "r=ABCdef,s=c2FsdA==,i=4096")
            }
        }
    }

    @Test("no secret is in a description")
    func redaction() throws {
        let keys = try #require(try SCRAMExchange.sha1.complete())
        var dumped = ""
        dump(Credentials.password("pencil"), to: &dumped)
        let shown = "\(keys) \(Credentials.keys(keys)) \([Credentials.password("pencil")]) \(dumped)"
        #expect(!shown.contains("pencil"))
        #expect(!shown.contains(Data(keys.clientKey).base64EncodedString()))
        #expect(!shown.contains("\(keys.clientKey[0]), \(keys.clientKey[1])"))
    }
}

@Suite("Choice of the mechanism")
struct MechanismTests {
    private let password = Credentials.password("pencil")

    @Test("RFC 6120, 6.3.3: the strongest of the offered mechanisms")
    func strongest() throws {
        #expect(SASLMechanism.allCases.sorted() == [.plain, .scramSHA1, .scramSHA256, .scramSHA512])
        let offered = ["PLAIN", "SCRAM-SHA-1-PLUS", "SCRAM-SHA-1", "SCRAM-SHA-512", "SCRAM-SHA-256", "X-OAUTH2"]
        #expect(try SASLMechanism.strongest(of: offered, credentials: password, pinned: nil) == .scramSHA512)
        #expect(try SASLMechanism.strongest(of: ["PLAIN"], credentials: password, pinned: nil) == .plain)
    }

    @Test("nothing known is offered", arguments: [[], ["EXTERNAL", "scram-sha-1"], [""]])
    func none(offered: [String]) {
        #expect(throws: AuthenticationError.noMechanism(offered: offered)) {
            try SASLMechanism.strongest(of: offered, credentials: password, pinned: nil)
        }
    }

    @Test("a mechanism weaker than the mechanism used before is refused")
    func pinning() throws {
        let offered = ["PLAIN", "SCRAM-SHA-1"]
        #expect(throws: AuthenticationError.onlyWeakerMechanisms(offered: offered, pinned: .scramSHA256)) {
            try SASLMechanism.strongest(of: offered, credentials: password, pinned: .scramSHA256)
        }
        #expect(try SASLMechanism.strongest(of: offered, credentials: password, pinned: .scramSHA1) == .scramSHA1)
    }

    @Test("keys fit their mechanism only")
    func keys() throws {
        let keys = Credentials.keys(try #require(try SCRAMExchange.sha1.complete()))
        let both = ["SCRAM-SHA-256", "SCRAM-SHA-1"]
        #expect(try SASLMechanism.strongest(of: both, credentials: keys, pinned: .scramSHA1) == .scramSHA1)
        #expect(throws: AuthenticationError.passwordNeeded(.mechanismNotOffered)) {
            try SASLMechanism.strongest(of: ["SCRAM-SHA-256"], credentials: keys, pinned: nil)
        }
        #expect(throws: AuthenticationError.passwordNeeded(.mechanismNotOffered)) {
            try SASLMechanism.strongest(of: both, credentials: keys, pinned: .scramSHA256)
        }
    }
}
