import KalijText
import Testing

@testable import KalijWebPush

@Suite("Subscriptions of devices")
struct SubscriptionTests {
    private let key = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private let secret = "BTBZMqHH6r4Tts7J_aSIgg"

    private func text(_ endpoint: String) -> String { "\(endpoint)#p256dh=\(key);auth=\(secret)" }

    private func fault(_ text: String) -> PushSubscription.Fault? {
        do throws(PushSubscription.Fault) {
            _ = try PushSubscription(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "an endpoint and its one spelling",
        arguments: [
            ("https://push.example.net/p/JzLQ3raZ", "https://push.example.net/p/JzLQ3raZ"),
            ("HTTPS://Push.EXAMPLE.net:443/P/a", "https://push.example.net/P/a"),
            ("https://push.example.net", "https://push.example.net/"),
            ("https://push.example.net?id=1", "https://push.example.net/?id=1"),
            (
                "https://push.example.net:8443/a%2Fb?x=:@!$&'()*+,;=",
                "https://push.example.net:8443/a%2Fb?x=:@!$&'()*+,;="
            ),
            ("https://xn--bcher-kva.example/1", "https://xn--bcher-kva.example/1"),
        ])
    func spelling(_ endpoint: String, _ canonical: String) throws {
        let read = try PushSubscription(text(endpoint))
        #expect(read.endpoint.text == canonical)
        #expect(read.text == text(canonical))
        #expect(try PushSubscription(read.text) == read)
    }

    @Test("the origin has a port only if it is not the usual one")
    func origin() throws {
        #expect(try PushEndpoint("https://a.example:443/1").origin == "https://a.example")
        #expect(try PushEndpoint("https://a.example:8443/1").origin == "https://a.example:8443")
    }

    @Test(
        "what is no endpoint",
        arguments: [
            ("http://push.example.net/1", PushEndpoint.Fault.notHTTPS), ("", .notHTTPS),
            ("ftp://a.example/", .notHTTPS),
            ("//push.example.net/1", .notHTTPS), ("https:/push.example.net/1", .notHTTPS),
            (" https://push.example.net/1", .notHTTPS), ("file:///etc/passwd", .notHTTPS),
            ("https://user@push.example.net/1", .userName), ("https://user:word@push.example.net/1", .userName),
            ("https://push.example.net@127.0.0.1/1", .userName), ("https://@push.example.net/", .userName),
            ("https://127.0.0.1/1", .address), ("https://127.1/1", .address), ("https://2130706433/1", .address),
            ("https://0x7f.0.0.1/1", .address), ("https://0x7f000001/1", .address), ("https://0177.0.0.1/", .address),
            ("https://017700000001/1", .address), ("https://a.0x7f/1", .address), ("https://1.2.3.4.5/", .address),
            ("https://[::1]/1", .address), ("https://[::ffff:127.0.0.1]/1", .address),
            ("https://[fe80::1%25eth0]/", .address),
            ("https://127.0.0.1./1", .host), ("https://push.example.net./1", .host), ("https://localhost/1", .host),
            ("https://push/1", .host), ("https:///1", .host), ("https://.example.net/1", .host),
            ("https://push..example.net/1", .host), ("https://-push.example.net/1", .host),
            ("https://push-.example.net/1", .host), ("https://push_1.example.net/1", .host),
            ("https://bücher.example/1", .host), ("https://ⓔxample.net/1", .host),
            ("https://push.example。net/1", .host),
            ("https://１２７.0.0.1/1", .address), ("https://push.example.net%00.a.example/", .host),
            ("https://push%2eexample.net/1", .host), ("https://push.example.net\\@a.example/", .userName),
            ("https://push.example.net\\.a.example/", .host), ("https://push example.net/1", .host),
            ("https://push.example.net\u{0}/1", .host), ("https://push.example.net:0/1", .port),
            ("https://push.example.net:/1", .port), ("https://push.example.net:65536/1", .port),
            ("https://push.example.net:443443/1", .port), ("https://push.example.net:+443/1", .port),
            ("https://push.example.net:0443/1", .port), ("https://push.example.net:443:443/1", .port),
            ("https://push.example.net:https/1", .port), ("https://push.example.net/a b", .path),
            ("https://push.example.net/a\r\nHost: b", .path), ("https://push.example.net/ä", .path),
            ("https://push.example.net/a\"b", .path), ("https://push.example.net/%", .path),
            ("https://push.example.net/%4", .path), ("https://push.example.net/%zz", .path),
            ("https://push.example.net/a\\b", .path), ("https://push.example.net/<a>", .path),
        ])
    func forbidden(_ endpoint: String, _ reason: PushEndpoint.Fault) {
        #expect(fault(text(endpoint)) == .endpoint(reason), "\(endpoint)")
    }

    @Test("names and labels at their limits")
    func limits() throws {
        let label = String(repeating: "a", count: 63)
        let longest = "\(label).\(label).\(label).\(String(repeating: "a", count: 61))"
        #expect(try PushEndpoint("https://\(longest)/").host == longest)
        #expect(throws: PushEndpoint.Fault.host) { try PushEndpoint("https://\(longest)a/") }
        #expect(throws: PushEndpoint.Fault.host) { try PushEndpoint("https://\(label)a.example/") }
        let path = "https://push.example.net/" + String(repeating: "a", count: PushEndpoint.limit - 25)
        #expect(try PushSubscription(text(path)).text.utf8.count <= PushSubscription.limit)
        #expect(throws: PushEndpoint.Fault.tooLong) { try PushEndpoint(path + "a") }
    }

    @Test("keys and secrets of other lengths, points beside the curve, 10 kB")
    func keys() throws {
        let good = text("https://push.example.net/1")
        #expect(fault(good) == nil)
        var point = try #require(Base64URL.decode(key))
        func with(_ key: [UInt8], _ secret: String) -> String {
            "https://push.example.net/1#p256dh=\(Base64URL.encode(key));auth=\(secret)"
        }
        #expect(fault(with(Array(point.dropLast()), secret)) == .key)
        #expect(fault(with(point + [0], secret)) == .key)
        #expect(fault(with([], secret)) == .key)
        #expect(fault(with([0], secret)) == .key)
        #expect(fault(with([4] + [UInt8](repeating: 0, count: 64), secret)) == .key)
        #expect(fault(with([4] + [UInt8](repeating: 255, count: 64), secret)) == .key)
        #expect(fault(with([6] + point.dropFirst(), secret)) == .key)
        #expect(fault(with([2] + point[1..<33], secret)) == .key)
        point[64] ^= 1
        #expect(fault(with(point, secret)) == .key)
        #expect(fault(with([UInt8](repeating: 4, count: 10_000), secret)) == .tooLong)
        point[64] ^= 1
        for wrong in ["", "BTBZ", secret + "AA", secret + "==", "BTBZMqHH6r4Tts7J/aSIgg", secret + ";auth=" + secret] {
            #expect(fault(with(point, wrong)) == .secret, "\(wrong)")
        }
        // Two texts for the same bytes would be two devices.
        #expect(fault(with(point, "BTBZMqHH6r4Tts7J_aSIgh")) == .secret)
    }

    @Test(
        "other forms",
        arguments: [
            "", "#", "https://push.example.net/1", "https://push.example.net/1#",
            "https://push.example.net/1#p256dh=AA",
            "https://push.example.net/1#auth=AA;p256dh=AA", "https://push.example.net/1#p256dh=AA&auth=AA", "8f2c66d0",
            #"{"endpoint":"https://push.example.net/1"}"#,
        ])
    func forms(_ text: String) { #expect(fault(text) == .form) }
}
