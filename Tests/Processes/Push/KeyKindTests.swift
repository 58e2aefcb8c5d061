import Foundation
import KalijLab
import KalijPushLab
import Testing

/// Every kind of key file, as handed out by providers or converted by people, with the command as delivered. The
/// settings name the files relative to the settings file, and the command runs in another folder.
@Suite("Keys of the providers", .serialized)
struct KeyKindTests {
    enum Kind: CaseIterable {
        /// Apple's file: PKCS #8, "PRIVATE KEY".
        case p8
        /// The same key in the form of older programs: SEC 1, "EC PRIVATE KEY" after "EC PARAMETERS".
        case sec1
        /// A certificate with its key, as exported by OpenSSL 3 (AES-256, PBKDF2).
        case p12
        /// As macOS and OpenSSL 1 do: the certificate in RC2-40, the key in 3DES.
        case oldP12
        /// All in RC2-40.
        case oldestP12
        /// All in 3DES, and no password.
        case openP12
        /// Google's file: JSON with PKCS #8, "PRIVATE KEY".
        case account
        /// The same key as PKCS #1, "RSA PRIVATE KEY".
        case pkcs1Account
    }

    private static let certificate = """
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -keyout client.key \
        -out client.pem -subj "/CN=Apple Push Services: org.example"
        openssl pkcs12 -export -in client.pem -inkey client.key -out key.p12
        """

    /// Makes `rsa.pem` in the account's form, and `rsa.pub`.
    private static func rsa(_ more: String) -> String {
        """
        openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out rsa8.pem
        openssl pkey -in rsa8.pem \(more) -out rsa.pem
        openssl pkey -in rsa8.pem -pubout -out rsa.pub
        """
    }

    private static func script(_ kind: Kind) -> String {
        let rc2 = "-legacy -certpbe PBE-SHA1-RC2-40 -macalg sha1"
        return switch kind {
        case .p8: "mv ec.p8 key.p8; grep -q 'BEGIN PRIVATE KEY' key.p8"
        case .sec1:
            """
            openssl ecparam -name prime256v1 -out key.p8; openssl pkey -in ec.p8 -traditional >>key.p8
            grep -q 'BEGIN EC PARAMETERS' key.p8; grep -q 'BEGIN EC PRIVATE KEY' key.p8
            """
        case .p12: certificate + " -passout pass:secret"
        case .oldP12: certificate + " \(rc2) -keypbe PBE-SHA1-3DES -passout pass:secret"
        case .oldestP12: certificate + " \(rc2) -keypbe PBE-SHA1-RC2-40 -passout pass:secret"
        case .openP12: certificate + " -certpbe PBE-SHA1-3DES -keypbe PBE-SHA1-3DES -macalg sha1 -passout pass:"
        case .account: rsa("") + "\ngrep -q 'BEGIN PRIVATE KEY' rsa.pem"
        case .pkcs1Account: rsa("-traditional") + "\ngrep -q 'BEGIN RSA PRIVATE KEY' rsa.pem"
        }
    }

    /// The server with a module and a kind of key, and the provider's stand-in, which checks the signatures.
    private final class Scene {
        let stage: PushStage
        private var stop: () -> Void = {}
        /// How many pushes the provider has taken.
        private(set) var taken: () -> Int = { 0 }

        init(_ kind: Kind, folder: String, xmpp: LabComponentServer) throws {
            stage = try PushStage(folder: folder, port: xmpp.port)
            try PushStage.shell(KeyKindTests.script(kind), in: folder)
            var options = LabServer.Options(certificate: folder + "/server.pem", key: folder + "/server.key")
            func endpoint(_ port: UInt16) -> [String: Any] {
                ["host": "localhost", "port": Int(port), "caFile": "server.pem"]
            }
            var module: [String: Any] = ["type": "apple"]
            switch kind {
            case .account, .pkcs1Account:
                let fcm = try PushStage.makeFCM(folder)
                stop = fcm.stop
                taken = { fcm.pushes.count }
                module = ["type": "google", "fcm": ["fcmSecretPath": "account.json", "endpoint": endpoint(fcm.port)]]
            case .p8, .sec1:
                let apns = try LabAPNs(options, publicKey: folder + "/ec.pub")
                stop = apns.stop
                taken = { apns.pushes.count }
                module["apns"] = [
                    "keyFilePath": "key.p8", "keyId": "KEYID", "teamId": "TEAMID", "topic": "org.example.app",
                    "endpoint": endpoint(apns.port),
                ]
            case .p12, .oldP12, .oldestP12, .openP12:
                options.clientAuthority = folder + "/client.pem"
                let apns = try LabAPNs(options, publicKey: nil)
                stop = apns.stop
                taken = { apns.pushes.count }
                module["apns"] = [
                    "certFilePath": "key.p12", "certPassword": kind == .openP12 ? "" : "secret",
                    "topic": "org.example.app", "endpoint": endpoint(apns.port),
                ]
            }
            stage.settings["pushModules"] = ["m": module]
            stage.settings["state"] = ["database": "push.db", "secretFile": "secret"]
            try stage.writeSettings()
        }

        deinit { stop() }

        /// Changes a setting of the module about Apple.
        func setAPNs(_ key: String, _ value: String) throws {
            var module = try #require((stage.settings["pushModules"] as? [String: [String: Any]])?["m"])
            var apns = try #require(module["apns"] as? [String: Any])
            apns[key] = value
            module["apns"] = apns
            stage.settings["pushModules"] = ["m": module]
            try stage.writeSettings()
        }
    }

    private func with(_ kind: Kind, _ body: (Scene, LabComponentServer) throws -> Void) throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        try body(try Scene(kind, folder: folder.path + "/stage", xmpp: xmpp), xmpp)
    }

    @Test(
        "check takes a key that the provider takes, and a push goes out with the key, in any working directory",
        arguments: Kind.allCases)
    func push(kind: Kind) throws {
        try with(kind) { scene, xmpp in
            let check = try scene.stage.check()
            #expect(check.status == 0, "\(check.words)")
            try scene.stage.start()
            #expect(xmpp.wait { xmpp.isReady }, "\(scene.stage.log)")
            let answer = xmpp.wait(for: xmpp.publish(String(repeating: "ab", count: 32), module: "m"))
            #expect(answer?.type == "result", "\(scene.stage.log)")
            #expect(scene.taken() == 1)
            #expect(scene.stage.terminate() == .exited(0))
            // The database is beside the settings as well, not in the working directory.
            #expect(FileManager.default.fileExists(atPath: scene.stage.folder + "/push.db"))
        }
    }

    @Test(
        "a p12 that cannot be opened: the password, and an old encryption without OpenSSL's legacy provider, are two reasons"
    )
    func p12() throws {
        try with(.oldestP12) { scene, _ in
            let missing = try scene.stage.check(environment: ["OPENSSL_MODULES": "/nowhere"])
            #expect(missing.status == 78)
            #expect(missing.words.contains("key.p12: its encryption is old, and OpenSSL's legacy provider"))
            try scene.setAPNs("certPassword", "wrong")
            let wrong = try scene.stage.check()
            #expect(wrong.status == 78)
            #expect(wrong.words.contains("key.p12: the password is wrong"))
        }
        // Files exported today need no legacy provider.
        try with(.p12) { scene, _ in
            let check = try scene.stage.check(environment: ["OPENSSL_MODULES": "/nowhere"])
            #expect(check.status == 0, "\(check.words)")
        }
    }

    @Test("unsuitable keys are refused by check, with the reason")
    func refused() throws {
        try with(.p8) { scene, _ in
            try PushStage.shell(
                """
                openssl pkey -in key.p8 -aes128 -passout pass:x -out encrypted.p8
                openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out p384.p8
                head -c 100 key.p8 >part.p8; : >empty.p8
                """, in: scene.stage.folder)
            let unreadable = "it is no unencrypted private key in PEM form"
            let reasons = [
                "encrypted.p8": unreadable, "part.p8": unreadable, "empty.p8": unreadable,
                "p384.p8": "the key is neither P-256 nor RSA of at least 2048 bits",
                "none.p8": "cannot read \(scene.stage.folder)/none.p8: No such file or directory",
            ]
            for (name, reason) in reasons {
                try scene.setAPNs("keyFilePath", name)
                let check = try scene.stage.check()
                #expect(check.status == 78)
                #expect(
                    check.words.contains("pushModules.m.apns.keyFilePath: ") && check.words.contains(reason), "\(name)")
            }
        }
    }
}
