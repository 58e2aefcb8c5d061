import Foundation
import KalijHandlers
import Testing

@testable import KalijClient
@testable import KalijFeatures
@testable import KalijCore

/// `Documentation/Requests.md` has every request of the engine, and the paces of the code.
struct RequestsDocumentTests {
    private static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Documentation/Requests.md").path

    /// The handlers of answers.
    private var asking: [any Handler<Step>.Type] {
        func isOfAnswer<H: Handler>(_: H.Type) -> Bool { H.Input.self == IQReply.self }
        let all = Features.passive.all.flatMap { feature -> [any Handler<Step>.Type] in feature.handlers }
        return all.filter { isOfAnswer($0) }
    }

    @Test("every handler of an answer is on the page, and whoever is paced with its pace")
    func page() throws {
        let page = try String(contentsOfFile: Self.path, encoding: .utf8)
        #expect(asking.count > 30)
        for handler in asking {
            let name = "`\(handler.name)`"
            #expect(page.contains(name), "\(name)")
            guard let pace = (handler as? any PacedHandler.Type)?.pace else { continue }
            let row = page.split(separator: "\n").first { $0.hasPrefix("| \(name)") }
            #expect(row?.contains(words(pace)) ?? false, "\(name): \(words(pace))")
        }
        let others = [
            (BookmarkPublishResponse.name, Bookmarks.writing), (CapabilitiesResponse.name, CapabilityQueries.pace),
            (SubscriptionTimer.name, SubscriptionRequests.pace), (ArchivePageResponse.name, ArchivePage.emptyPages),
            (BundleResponse.name, Bundles.pace),
        ]
        for (name, pace) in others {
            let row = page.split(separator: "\n").first { $0.hasPrefix("| `\(name)`") }
            #expect(row?.contains(words(pace)) ?? false, "\(name): \(words(pace))")
        }
    }

    @Test("messages that a room does not show have the page's pace")
    func unshown() throws {
        let page = try String(contentsOfFile: Self.path, encoding: .utf8)
        let row = page.split(separator: "\n").first { $0.hasPrefix("| messages to a room |") }
        #expect(row?.contains(words(UnshownMessages.pace)) ?? false)
    }

    private func words(_ pace: RequestPace) -> String {
        "\(pace.burst) at once, then \(pace.pause / 1000) to \(pace.longest / 1000)"
    }
}
