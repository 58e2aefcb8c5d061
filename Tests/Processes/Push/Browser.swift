import Foundation
import Glibc
import KalijLab
import TestSupport
import Testing

/// A page in headless Chromium, controlled over its DevTools protocol: JSON ended by a zero byte, through descriptors 3
/// and 4.
final class Browser {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let process: Subprocess
    private let commands: Int32
    private let events: Int32
    private var input: [UInt8] = []
    private var last = 0
    private var session: String?
    /// The addresses of all requests of the page.
    private(set) var requests: [String] = []
    /// The browser's complaints: errors in scripts, loads that the page may not make.
    private(set) var complaints: [String] = []

    /// Starts the browser with an empty page.
    /// - Parameter folder: for the browser's files, removed by the caller.
    init(folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in ["in", "out"] { mkfifo(folder + "/" + name, 0o600) }
        // Opened for both directions, so that neither side waits for the other.
        commands = Glibc.open(folder + "/in", O_RDWR | O_CLOEXEC)
        events = Glibc.open(folder + "/out", O_RDWR | O_CLOEXEC)
        var launch = Launch(executable: "/bin/sh")
        launch.arguments = [
            "-c",
            """
            exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
            --disable-background-networking --user-data-dir="$0" --remote-debugging-pipe about:blank \
            3<"$0/in" 4>"$0/out" 2>"$0/log"
            """, folder,
        ]
        launch.environment = ["PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"]
        process = try Subprocess(launch)
        let target = try #require(try ask("Target.createTarget", ["url": "about:blank"])["targetId"] as? String)
        session = try ask("Target.attachToTarget", ["targetId": target, "flatten": true])["sessionId"] as? String
        for domain in ["Network", "Runtime", "Log", "Page"] { _ = try ask(domain + ".enable") }
    }

    deinit {
        _ = try? ask("Browser.close")
        Glibc.close(commands)
        Glibc.close(events)
        // Browsers do not always end when told to; the page has been seen by then.
        if process.blockingWait(seconds: 5) == nil { process.signal(SIGKILL) }
        _ = process.blockingWait(seconds: 5)
    }

    /// A screen of so many points, like a phone's (`isMobile`) or a desktop's.
    func resize(_ width: Int, _ height: Int, isMobile: Bool, isDark: Bool = false) throws {
        _ = try ask(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": isMobile ? 2 : 1, "mobile": isMobile])
        let scheme = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
        _ = try ask("Emulation.setEmulatedMedia", ["features": [scheme]])
    }

    func open(_ address: String) throws { _ = try ask("Page.navigate", ["url": address]) }

    /// The value of a JavaScript expression in the page.
    func value(_ expression: String) throws -> Any? {
        let answer = try ask("Runtime.evaluate", ["expression": expression, "returnByValue": true])
        return (answer["result"] as? [String: Any])?["value"]
    }

    /// Waits until an expression is true.
    func wait(until expression: String) throws -> Bool {
        let end = Date().addingTimeInterval(hangLimit)
        while try value(expression) as? Bool != true {
            if Date() > end { return false }
            usleep(50_000)
        }
        return true
    }

    /// The whole page as PNG.
    func screenshot() throws -> Data {
        let answer = try ask("Page.captureScreenshot", ["captureBeyondViewport": true])
        return try #require((answer["data"] as? String).flatMap { Data(base64Encoded: $0) })
    }

    // MARK: The protocol

    private func ask(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
        last += 1
        var message: [String: Any] = ["id": last, "method": method, "params": parameters]
        if let session { message["sessionId"] = session }
        let bytes = [UInt8](try JSONSerialization.data(withJSONObject: message)) + [0]
        guard write(commands, bytes, bytes.count) == bytes.count else { throw Failure(description: "cannot write") }
        while true {
            let answer = try next(method)
            note(answer)
            guard answer["id"] as? Int == last else { continue }
            if let error = answer["error"] { throw Failure(description: "\(method): \(error)") }
            return answer["result"] as? [String: Any] ?? [:]
        }
    }

    private func note(_ event: [String: Any]) {
        guard let parameters = event["params"] as? [String: Any] else { return }
        switch event["method"] as? String {
        case "Network.requestWillBeSent":
            if let url = (parameters["request"] as? [String: Any])?["url"] as? String { requests.append(url) }
        case "Runtime.exceptionThrown", "Log.entryAdded": complaints.append("\(parameters)")
        default: break
        }
    }

    private func next(_ method: String) throws -> [String: Any] {
        while true {
            if let end = input.firstIndex(of: 0) {
                let message = Data(input[..<end])
                input.removeSubrange(...end)
                return try JSONSerialization.jsonObject(with: message) as? [String: Any] ?? [:]
            }
            var wanted = pollfd(fd: events, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, Int32(hangLimit * 1000)) == 1 else {
                throw Failure(description: "\(method): no answer")
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(events, &buffer, buffer.count)
            input += buffer.prefix(max(0, count))
        }
    }
}
