import Foundation
import KalijLab
import KalijPushLab
import TestSupport
import Testing

@Suite("The operator's page", .serialized)
struct OperatorPageTests {
    /// Pictures are kept in a folder for people to look at: `Scripts/long operator-page screenshots=FOLDER`.
    private func keep(_ picture: Data, _ name: String) throws {
        // A PNG file of more than an empty page.
        #expect(picture.starts(with: [0x89, 0x50, 0x4e, 0x47]) && picture.count > 10_000, "\(name)")
        guard let folder = LongForm.choice("screenshots") else { return }
        try picture.write(to: URL(fileURLWithPath: "\(folder)/\(name).png"))
    }

    /// Some of everything: pushes, queued and covered pushes, a blocked token, nonsense.
    private func publish(_ round: Int, _ xmpp: LabComponentServer, _ stage: PushStage) {
        let dead = String(repeating: "de", count: 32)
        stage.apns.script(dead, LabAPNs.reply(410, "Unregistered"))
        var ids: [String] = []
        for number in 0..<(20 + 10 * round) {
            let token = String(repeating: "c", count: 60) + String(1_000 + number % 30 + round * 7)
            ids.append(xmpp.publish(token, module: "apple"))
        }
        ids += [xmpp.publish(dead, module: "apple"), xmpp.publish("nonsense", module: "apple")]
        for id in ids { #expect(xmpp.wait(for: id) != nil) }
    }

    @Test("in Chromium: the script's drawings, nothing from elsewhere, no scrolling to the side on a phone")
    func page() throws {
        let folder = try TemporaryDirectory(prefix: "kalij-push")
        defer { folder.remove() }
        let xmpp = try LabComponentServer(key: "component-key")
        defer { xmpp.stop() }
        let stage = try PushStage(folder: folder.path + "/stage", port: xmpp.port)
        try stage.start()
        #expect(xmpp.wait { xmpp.isReady })
        publish(0, xmpp, stage)

        let browser = try Browser(folder: folder.path + "/chromium")
        try browser.resize(390, 844, isMobile: true)
        let address = "http://127.0.0.1:\(stage.httpPort)/"
        try browser.open(address)
        #expect(try browser.wait(until: "document.getElementById('state')?.textContent === 'all is well'"))
        for round in 1...2 {
            publish(round, xmpp, stage)
            // The page has asked once more.
            #expect(try browser.wait(until: "document.body.innerText.includes('own stanza\\t\(round + 1)')"))
        }
        let line = "document.querySelector('#pushes polyline')"
        let isDrawn = line + "?.getAttribute('points')?.split(' ')?.length >= 2"
        #expect(try browser.wait(until: isDrawn))
        let text = try #require(try browser.value("document.body.innerText") as? String)
        for words in [
            "all is well", "delivered", "queued", "covered by", "dead", "apple", "healthy",
            "certificate\tends in 30 days",
            "own stanza\t3", "last push taken",
        ] {
            #expect(text.contains(words), "\(words) is not in: \(text)")
        }
        #expect(try browser.value("document.querySelectorAll('#pushes polyline').length >= 3") as? Bool == true)

        for (width, name) in [(390, "phone"), (320, "small phone"), (1280, "desktop")] {
            try browser.resize(width, 844, isMobile: width < 1_000)
            #expect(try browser.value("document.documentElement.scrollWidth") as? Int == width, "\(name)")
            #expect(try browser.value("innerWidth") as? Int == width, "\(name)")
            // Text has to be large enough, and no part of a table may be cut off.
            let small = "[...document.querySelectorAll('td,th,h2,figcaption')].filter((one) => "
            #expect(try browser.value(small + "parseFloat(getComputedStyle(one).fontSize) < 12).length") as? Int == 0)
            #expect(try browser.value(small + "one.scrollWidth > one.clientWidth + 1).length") as? Int == 0, "\(name)")
            try keep(try browser.screenshot(), name)
        }
        try browser.resize(390, 844, isMobile: true, isDark: true)
        try keep(try browser.screenshot(), "phone dark")

        #expect(browser.requests.count >= 3)
        #expect(browser.requests.allSatisfy { $0 == address || $0 == address + "metrics" }, "\(browser.requests)")
        #expect(browser.complaints.isEmpty, "\(browser.complaints)")

        xmpp.stop()
        let state = "document.getElementById('state').textContent === "
        #expect(try browser.wait(until: state + "'not connected to the XMPP server'"))
        #expect(try browser.wait(until: "document.body.innerText.includes('component: not connected')"))
        try browser.resize(390, 844, isMobile: true)
        try keep(try browser.screenshot(), "phone with a problem")
        stage.kill()
        let stale = "document.body.className === 'stale' && document.getElementById('state').textContent"
        #expect(try browser.wait(until: stale + ".startsWith('the server does not answer; the figures are')"))
        try keep(try browser.screenshot(), "phone with old figures")
    }
}
