import Foundation
import Testing

@testable import KalijApp

@Suite struct IconTests {
    private static let app = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `Each symbol is in the theme that the package depends on`() throws {
        let control = try String(
            contentsOf: Self.app.appending(path: "../Packaging/debian/control"), encoding: .utf8)
        #expect(control.contains("adwaita-icon-theme,"))
        let theme = try #require(FileManager.default.enumerator(atPath: "/usr/share/icons/Adwaita"))
        let names = Set(theme.compactMap { ($0 as? String)?.split(separator: "/").last?.split(separator: ".").first })
        for icon in Icon.allCases { #expect(names.contains(Substring(icon.rawValue)), "\(icon)") }
    }

    @Test func `No widget has another symbol`() throws {
        let sources = Self.app.appending(path: "Sources/KalijGTK")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains("-symbolic\""), "\(file.lastPathComponent)")
        }
    }
}
