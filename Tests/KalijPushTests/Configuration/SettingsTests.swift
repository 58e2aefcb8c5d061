import KalijPush
import Testing

@Suite("settings.json")
struct SettingsTests {
    static let fpush = """
        {
            "component": {
                "componentHostname": "push.example.org", "componentKey": "secret",
                "serverHostname": "127.0.0.1", "serverPort": 5347
            },
            "pushModules": {
                "monalProdiOS": {
                    "type": "apple", "is_default_module": true,
                    "apns": {
                        "certFilePath": "/etc/push.p12", "certPassword": "pw", "topic": "G7YU7X7KRJ.SworIM",
                        "environment": "sandbox", "additionalData": {"aud": 1}, "poolIdleTimeout": 300,
                        "requestTimeout": 7
                    },
                    "ratelimit": {
                        "ratelimitTime": "30s", "ratelimitCleanupInterval": "300s", "enabled": true,
                        "hardRatelimitTime": "15m"
                    },
                    "blacklist": {
                        "invalidToken": {"initalBlocking": "1day", "extendedBlocking": "5days"},
                        "pushError": {"initalBlocking": "10m", "extendedBlocking": "20m"},
                        "blockExtension": "1h 30m"
                    }
                },
                "someAndroidApp": {
                    "type": "google", "is_default_module": false, "fcm": {"fcmSecretPath": "/etc/fcm.json"}
                }
            },
            "timeout": {"xmppconnectionError": "20s"}
        }
        """

    private func read(_ text: String) throws -> Settings { try Settings(json: Array(text.utf8)) }

    @Test("relative paths begin at the settings file, because a service has another working directory")
    func relative() throws {
        let text = Self.fpush
            .replacing("/etc/push.p12", with: "keys/push.p12")
            .replacing(#""/etc/fcm.json""#, with: #""fcm.json", "endpoint": {"host": "h", "caFile": "ca.pem"}"#)
            .replacing(#""timeout":"#, with: #""state": {"database": "a.db", "secretFile": "/b"}, "timeout":"#)
        let settings = try Settings(json: Array(text.utf8), folder: "/etc/kalij-push")
        guard case .apns(let apns) = settings.modules["monalProdiOS"]?.provider,
            case .fcm(let fcm) = settings.modules["someAndroidApp"]?.provider
        else { throw SettingsError("", "no providers") }
        #expect(apns.credentials == .certificate(path: "/etc/kalij-push/keys/push.p12", password: "pw"))
        #expect(fcm.secretPath == "/etc/kalij-push/fcm.json")
        #expect(fcm.endpoint?.caFile == "/etc/kalij-push/ca.pem")
        #expect(settings.state.database == "/etc/kalij-push/a.db")
        #expect(settings.state.secretFile == "/b")
    }

    private func problem(_ text: String) -> String? {
        do {
            _ = try read(text)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("fpush's settings.json is the format: every key that fpush reads")
    func fpush() throws {
        let settings = try read(Self.fpush)
        #expect(settings.component.serverPort == 5347)
        #expect(settings.defaultModule == "monalProdiOS")
        #expect(settings.reconnect == 20_000)
        let apple = try #require(settings.modules["monalProdiOS"])
        guard case .apns(let apns) = apple.provider else { throw SettingsError("", "no apns") }
        #expect(apns.credentials == .certificate(path: "/etc/push.p12", password: "pw"))
        #expect(apns.isSandbox)
        #expect(apns.additionalData == ["aud": .integer(1)])
        #expect(apns.idle == 300_000)
        #expect(apns.request == 7_000)
        #expect(apple.rate.window == 30_000)
        #expect(apple.rate.hold == 900_000)
        #expect(apple.blocking.dead == 86_400_000)
        #expect(apple.blocking.deadAgain == 432_000_000)
        #expect(apple.blocking.bad == 600_000)
        #expect(apple.blocking.hit == 5_400_000)
        #expect(settings.modules["someAndroidApp"]?.provider == .fcm(try fcm()))
    }

    private func fcm() throws -> FCMSettings {
        guard case .fcm(let fcm)? = try read(Self.fpush).modules["someAndroidApp"]?.provider else {
            throw SettingsError("", "no fcm")
        }
        #expect(fcm.secretPath == "/etc/fcm.json")
        return fcm
    }

    @Test("defaults of fpush and Operating.md")
    func defaults() throws {
        let settings = try read(minimal())
        let module = try #require(settings.modules["m"])
        #expect(module.rate == RateSettings())
        #expect(module.rate.window == 20_000)
        #expect(module.blocking.bad == 21_600_000)
        #expect(settings.reconnect == 10_000)
        #expect(settings.limits.deadTokens == 20)
        #expect(settings.limits.malformed == 100)
        #expect(settings.defaultModule == nil)
        #expect(settings.http == nil)
    }

    private func minimal(module: String = #""type": "log""#, more: String = "") -> String {
        """
        {"component": {"componentHostname": "p", "componentKey": "k", "serverHostname": "h", "serverPort": 1},
         "pushModules": {"m": {\(module)}}\(more)}
        """
    }

    @Test("strict: a fault is reported with its key and place")
    func strict() {
        let cases: [(String, String)] = [
            ("{", "no valid JSON"),
            ("[]", "is an array, an object is wanted"),
            ("{}", "component: is missing"),
            (minimal(module: #""type": "windows""#), "pushModules.m.type: must be apple, google, webpush or log"),
            (
                minimal(module: #""type": "log", "isDefaultModule": true"#),
                "pushModules.m.isDefaultModule: is no key known here; \"is_default_module\" is"
            ),
            (minimal(module: #""type": "apple""#), "pushModules.m.apns: is missing"),
            (
                minimal(module: #""type": "apple", "apns": {"certFilePath": "a", "certPassword": "", "topic": 1}"#),
                "pushModules.m.apns.topic: is a number, a string is wanted"
            ),
            (
                minimal(module: #""type": "apple", "apns": {"topic": "t"}"#),
                "pushModules.m.apns.certFilePath: is missing, and so is \"keyFilePath\""
            ),
            (
                minimal(module: #""type": "apple", "apns": {"topic": "t", "keyFilePath": "k", "keyId": "i"}"#),
                "pushModules.m.apns.teamId: is missing"
            ),
            (
                minimal(module: #""type": "log", "ratelimit": {"ratelimitTime": "soon"}"#),
                "pushModules.m.ratelimit.ratelimitTime: a duration is wanted, such as \"20s\", \"10m\" or \"1h 30m\""
            ),
            (
                minimal(module: #""type": "log", "ratelimit": {"ratelimitTime": 20}"#),
                "pushModules.m.ratelimit.ratelimitTime: a duration is wanted"
            ),
            (minimal(more: #", "timeouts": {}"#), "timeouts: is no key known here"),
            (minimal(more: #", "limits": {"inFlight": 0}"#), "limits.inFlight: a whole number from 1"),
            (minimal(more: #", "limits": {"answer": "11s"}"#), "limits.answer: is more than 10s"),
            (minimal(more: #", "state": {"database": "x"}"#), "state.secretFile: is missing"),
            (
                minimal(module: #""type": "google", "fcm": {"fcmSecretPath": "a", "expiration": "29days"}"#),
                "pushModules.m.fcm.expiration: Google keeps a push for 28 days at most"
            ),
            (minimal().replacing("\"m\"", with: "\"\""), "pushModules: a module's name is empty"),
            (
                minimal(
                    module:
                        #""type": "log", "is_default_module": true}, "n": {"type": "log", "is_default_module": true"#),
                "pushModules.n.is_default_module: \"m\" is the default module already"
            ),
            (
                minimal().replacing("\"serverPort\": 1", with: "\"serverPort\": 70000"),
                "component.serverPort: a whole number from 1 to 65535 is wanted"
            ),
        ]
        for (text, words) in cases {
            let problem = problem(text)
            #expect(problem?.hasPrefix(words) == true, "\(problem ?? "accepted") instead of \(words)")
        }
    }

    @Test("all faults are told at once, unknown keys with the known key that is meant")
    func all() {
        let text = """
            {"component": {"componentHostname": "a b", "componentKye": "k", "serverHostname": "h"},
             "pushModules": {"m": {"type": "apple", "apns": {"topic": "t", "keyFilePath": "k", "key_id": "i"}},
              "n": {"type": "windows", "fcm": {}}}, "limits": {"inFlight": 0}, "stat": {}, "http": 7}
            """
        #expect(
            problem(text)?.split(separator: "\n") == [
                #"component.componentHostname: is no name of a host: a blank, "/" or "@" is in it"#,
                "component.componentKey: is missing", "component.serverPort: is missing",
                #"component.componentKye: is no key known here; "componentKey" is"#,
                "pushModules.m.apns.keyId: is missing", "pushModules.m.apns.teamId: is missing",
                #"pushModules.m.apns.key_id: is no key known here; "keyId" is"#,
                "pushModules.n.type: must be apple, google, webpush or log",
                "limits.inFlight: a whole number from 1 to 100000000 is wanted",
                "http: is a number, an object is wanted", #"stat: is no key known here; "state" is"#,
            ])
    }

    @Test("a syntax error gives the place")
    func syntax() throws {
        let text = minimal().replacing("\"pushModules\":", with: "\"pushModules\" ")
        #expect(problem(text) == "no valid JSON: \":\" is missing at line 2, column 17")
        #expect(problem(#"{"a": 1, "a": 2}"#) == "no valid JSON: the key \"a\" stands twice at line 1, column 10")
        for text in ["", "{", "[1,", "{\"a\"", "tru", "{} x", "\"abc", "{\"a\": }", "[01x]"] {
            #expect(problem(text)?.hasPrefix("no valid JSON") == true, "\(text)")
        }
    }

    @Test("errors contain no secrets")
    func secrets() {
        let text = Self.fpush.replacing("\"certPassword\": \"pw\"", with: "\"certPasword\": \"hush-hush\"")
        #expect(problem(text)?.contains("certPas") == true)
        #expect(problem(text)?.contains("hush") == false)
    }
}
