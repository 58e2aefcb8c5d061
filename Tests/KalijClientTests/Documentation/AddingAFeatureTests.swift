import Foundation
import Testing

@testable import KalijFeatures
@testable import KalijCore

/// `Documentation/AddingAFeature.md` says what is in the sources.
struct AddingAFeatureTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    private func page() throws -> String { try text("Documentation/AddingAFeature.md") }

    @Test("each piece of code is in the file that its first line names")
    func code() throws {
        let blocks = try page().components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
        #expect(blocks.count > 4)
        for block in blocks {
            let lines = block.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            let path = try #require(lines.first).dropFirst("// ".count)
            #expect(try text(String(path)).contains(try #require(lines.last)), "\(path) does not have this:\n\(block)")
        }
    }

    @Test("each file and folder is there")
    func paths() throws {
        let named = try page().matches(of: #/`((?:Sources|Tests|Documentation|Scripts)/[\w/.+-]+)`/#).map {
            String($0.1)
        }
        #expect(named.count > 10)
        for path in named {
            #expect(FileManager.default.fileExists(atPath: Self.root.appendingPathComponent(path).path), "\(path)")
        }
    }

    private func functions(of protocolName: String, in path: String) throws -> [String] {
        let declaration = try #require(
            try text(path).components(separatedBy: "protocol \(protocolName): ").last?.components(separatedBy: "\n}")
                .first)
        return declaration.matches(of: #/\n    (?:static )?(?:func|var) (\w+)/#).map { String($0.1) }
    }

    private func table(_ heading: String) throws -> String {
        let table = try #require(try page().components(separatedBy: heading + "\n|---|---|\n").last)
        return try #require(table.components(separatedBy: "\n\n").first)
    }

    @Test("a table has all capabilities with their functions, in their order")
    func capabilities() throws {
        let folder = "Sources/KalijCore/Transaction"
        let declared = try FileManager.default.contentsOfDirectory(
            atPath: Self.root.appendingPathComponent(folder).path
        )
        .filter { try text("\(folder)/\($0)").contains(": Feature {") }
        let rows = try table("| capability | functions |").components(separatedBy: "\n")
        #expect(Set(declared) == Set(rows.map { "\($0.components(separatedBy: "`")[1]).swift" }))
        for row in rows {
            let words = row.matches(of: #/`(\w+)`/#).map { String($0.1) }
            let name = try #require(words.first)
            let functions = try functions(of: name, in: "\(folder)/\(name).swift")
            #expect(Array(words.dropFirst()) == functions, "\(name)")
            #expect((1...8).contains(functions.count), "\(name): at most 8 requirements")
        }
        #expect(try functions(of: "Feature", in: "\(folder)/Feature.swift").count <= 10)
    }

    /// `BookmarkExtender` excepted: it is the only way to another client's bookmark, for one feature as for several.
    @Test("each capability has two features at least")
    func conformers() {
        let hooks = HookTable(Features.own)
        let counts: KeyValuePairs<String, Int> = [
            "SessionObserver": hooks.sessionObservers.count,
            "StanzaInterceptor": hooks.stanzaInterceptors.count,
            "AccountObserver": hooks.accountObservers.count,
            "ArchiveObserver": hooks.archiveObservers.count,
            "MessageProcessor": hooks.messageProcessors.count,
            "StoredMessageObserver": hooks.storedMessageObservers.count,
            "PresenceObserver": hooks.presenceObservers.count,
            "RequestResponder": hooks.requestResponders.count,
            "OutgoingMessageInterceptor": hooks.outgoingMessageInterceptors.count,
            "OutgoingMessageDecorator": hooks.outgoingMessageDecorators.count,
            "MessageRetainer": hooks.messageRetainers.count,
            "RoomProvider": hooks.roomProviders.count,
            "TransactionObserver": hooks.transactionObservers.count,
            "WorkReporter": hooks.workReporters.count,
            "ServiceProvider": hooks.serviceProviders.count,
        ]
        for (name, count) in counts {
            #expect(count >= 2, "\(name)")
        }
    }

    @Test("the capabilities that the compiler knows of each feature are those that the feature conforms to")
    func declared() {
        for feature in Features.own {
            let (known, conforming) = (HookTable([feature]), feature as Any)
            let counts: [(String, Int, Bool)] = [
                ("SessionObserver", known.sessionObservers.count, conforming is any SessionObserver.Type),
                ("StanzaInterceptor", known.stanzaInterceptors.count, conforming is any StanzaInterceptor.Type),
                ("AccountObserver", known.accountObservers.count, conforming is any AccountObserver.Type),
                ("ArchiveObserver", known.archiveObservers.count, conforming is any ArchiveObserver.Type),
                ("MessageProcessor", known.messageProcessors.count, conforming is any MessageProcessor.Type),
                (
                    "StoredMessageObserver", known.storedMessageObservers.count,
                    conforming is any StoredMessageObserver.Type
                ),
                ("PresenceObserver", known.presenceObservers.count, conforming is any PresenceObserver.Type),
                ("RequestResponder", known.requestResponders.count, conforming is any RequestResponder.Type),
                (
                    "OutgoingMessageInterceptor", known.outgoingMessageInterceptors.count,
                    conforming is any OutgoingMessageInterceptor.Type
                ),
                (
                    "OutgoingMessageDecorator", known.outgoingMessageDecorators.count,
                    conforming is any OutgoingMessageDecorator.Type
                ),
                ("MessageRetainer", known.messageRetainers.count, conforming is any MessageRetainer.Type),
                ("RoomProvider", known.roomProviders.count, conforming is any RoomProvider.Type),
                ("BookmarkExtender", known.bookmarkExtenders.count, conforming is any BookmarkExtender.Type),
                ("TransactionObserver", known.transactionObservers.count, conforming is any TransactionObserver.Type),
                ("WorkReporter", known.workReporters.count, conforming is any WorkReporter.Type),
                ("ServiceProvider", known.serviceProviders.count, conforming is any ServiceProvider.Type),
            ]
            for (name, count, isOne) in counts { #expect(count == (isOne ? 1 : 0), "\(feature): \(name)") }
        }
    }

    @Test(
        "a function with the name of a hook is in a type that has the capability: the compiler does not see one that is never called"
    )
    func called() throws {
        let folder = "Sources/KalijCore/Transaction"
        let capabilities = try table("| capability | functions |").matches(of: #/(?m)^\| `(\w+)`/#).map { String($0.1) }
        var owners: [String: String] = [:]
        for name in capabilities {
            for function in try functions(of: name, in: "\(folder)/\(name).swift") { owners[function] = name }
        }
        let files = try ["Sources/KalijCore", "Sources/KalijFeatures"].flatMap { folder in
            let paths = FileManager.default.subpaths(atPath: Self.root.appendingPathComponent(folder).path)
            return try #require(paths).filter { $0.hasSuffix("Feature.swift") && !$0.hasSuffix("/Feature.swift") }
                .map { "\(folder)/\($0)" }
        }
        #expect(files.count > 20)
        for file in files {
            let text = try text(file)
            let head = try #require(text.components(separatedBy: ": Feature").last?.components(separatedBy: "{").first)
            for match in text.matches(of: #/\n    (?:package )?static (?:func|var) (\w+)/#) {
                guard let owner = owners[String(match.1)] else { continue }
                #expect(head.contains(owner), "\(file): \(match.1)")
            }
        }
    }
}
