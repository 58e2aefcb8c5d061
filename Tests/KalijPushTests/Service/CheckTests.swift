import Foundation
import KalijPush
import KalijTransport
import Testing

@Suite("kalij-push check")
struct CheckTests {
    private func check(_ scene: Scene) throws -> String? {
        do {
            return try PushServer.check(scene.configuration, loop: try EventLoop()).first.map { "warning: \($0)" }
        } catch {
            return "\(error)"
        }
    }

    @Test("the check looks at every named file, and makes nothing")
    func nothingMade() throws {
        let scene = try Scene()
        let before = try FileManager.default.contentsOfDirectory(atPath: scene.folder).sorted()
        #expect(try check(scene) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.folder).sorted() == before)
        try scene.start()
        scene.stop()
        #expect(try check(scene) == nil)
    }

    @Test("a secret too short, a database of another program, no folder, a name for an address")
    func wrong() throws {
        let scene = try Scene()
        let secret = URL(fileURLWithPath: scene.folder + "/secret")
        try Data("short".utf8).write(to: secret)
        #expect(try check(scene)?.hasPrefix("state.secretFile: ") == true)
        try Data(repeating: 1, count: 32).write(to: secret)
        try Data(repeating: 1, count: 5_000).write(to: URL(fileURLWithPath: scene.folder + "/push.db"))
        #expect(try check(scene)?.hasPrefix("state.database: ") == true)
        scene.settings["state"] = ["secretFile": "/no/such/folder/secret"]
        try scene.writeSettings()
        #expect(try check(scene) == "state.secretFile: cannot make files in /no/such/folder: No such file or directory")
        scene.settings["state"] = nil
        scene.settings["http"] = ["address": "localhost"]
        try scene.writeSettings()
        #expect(try check(scene) == "http.address: an IPv4 or IPv6 address is wanted, not a name")
        try FileManager.default.removeItem(atPath: scene.configuration)
        #expect(try check(scene) == "cannot read: No such file or directory")
    }

    @Test("a database without its secret: a warning, unless the secret is being replaced")
    func lostSecret() throws {
        let scene = try Scene()
        try scene.start()
        scene.stop()
        try FileManager.default.moveItem(atPath: scene.folder + "/secret", toPath: scene.folder + "/former")
        let warning = try #require(try check(scene))
        #expect(warning.hasPrefix("warning: state.secretFile: \(scene.folder)/secret is missing; "))
        var state = try #require(scene.settings["state"] as? [String: Any])
        state["previousSecretFile"] = scene.folder + "/former"
        scene.settings["state"] = state
        try scene.writeSettings()
        #expect(try check(scene) == nil)
    }

    @Test("no default module: a warning, because publishes without a module are refused")
    func noDefault() throws {
        let scene = try Scene { settings in
            var modules = settings["pushModules"] as? [String: [String: Any]] ?? [:]
            modules["apple"]?["is_default_module"] = nil
            settings["pushModules"] = modules
        }
        #expect(
            try check(scene)?.hasPrefix("warning: pushModules: no module has \"is_default_module\": true") == true)
        try scene.start()
        #expect(scene.xmpp.wait(for: scene.xmpp.publish(device(1), module: nil))?.type == "wait")
        #expect(scene.xmpp.wait(for: scene.xmpp.publish(device(1), module: "apple"))?.type == "result")
    }

    @Test("the key of the other provider is refused, and named")
    func otherKey() throws {
        let scene = try Scene()
        let account = scene.folder + "/account.json"
        let text = try Data(contentsOf: URL(fileURLWithPath: account))
        var fields = try #require(JSONSerialization.jsonObject(with: text) as? [String: Any])
        fields["private_key"] = try String(contentsOfFile: scene.folder + "/ec.p8", encoding: .utf8)
        try JSONSerialization.data(withJSONObject: fields).write(to: URL(fileURLWithPath: account))
        #expect(
            try check(scene) == "pushModules.google.fcm.fcmSecretPath: \(account): \"private_key\": "
                + "Google wants an RSA key; this is a P-256 key")
        try text.write(to: URL(fileURLWithPath: account))
        try Scene.shell("cp rsa.pem ec.p8", in: scene.folder)
        #expect(
            try check(scene) == "pushModules.apple.apns.keyFilePath: \(scene.folder)/ec.p8: "
                + "Apple wants a P-256 key; this is an RSA key")
    }

    @Test("a secret is made whole or not at all: a kill leaves no part of a secret")
    func draft() throws {
        let scene = try Scene()
        let path = scene.folder + "/secret"
        try Data("half".utf8).write(to: URL(fileURLWithPath: path + ".new"))
        let secret = try HashingSecret.make(path, key: "state.secretFile")
        #expect(secret.count == 32)
        #expect(try HashingSecret.make(path, key: "state.secretFile") == secret)
        #expect(!FileManager.default.fileExists(atPath: path + ".new"))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }
}
