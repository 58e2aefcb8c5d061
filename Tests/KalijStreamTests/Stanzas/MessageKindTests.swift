import KalijStream
import Testing

struct MessageKindTests {
    @Test("RFC 6121 5.2.2: no type, or an unknown one, is `normal`")
    func kinds() {
        let types = ["chat", "error", "groupchat", "headline", "normal", "future", "CHAT", "", nil]
        let kinds: [MessageKind] = [.chat, .error, .groupchat, .headline, .normal, .normal, .normal, .normal, .normal]
        #expect(types.map(MessageKind.init(type:)) == kinds)
    }
}
