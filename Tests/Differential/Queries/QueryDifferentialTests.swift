import Foundation
import KalijXML
import TestSupport
import Testing

/// "100,000 random trees and random queries of Prosody's language give the same answer wherever Prosody's rule (first
/// child only, no going back) does not itself make the difference; the exceptions are counted and named, and at least
/// half of the queries find something."
@Suite struct QueryDifferentialTests {
    fileprivate struct Case {
        var tree: Model
        var query: FindQuery
        var xml: [UInt8]
        /// Prosody's rules that hold for this case.
        var rules: FindRules
        /// The query as Prosody is asked.
        var asked: String
        /// As in a server: jabber:client is the namespace of the streams.
        var isServer: Bool
    }

    fileprivate struct Count: Sendable {
        var cases = 0
        var found = 0
        var foundByProsody = 0
        var equal = 0
        var exceptions: [FindRules: Int] = [:]
        var wrong: [String] = []
    }

    private static let header =
        "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>"

    @Test("queries give the same as Prosody's own stanza:find, except for its rules")
    func queries() async throws {
        let wanted = Wanted.cases(5_000, of: 100_000)
        let counts = try await sideBySide(wanted) { part, count in
            var random = Seeded(Wanted.seed &+ UInt64(part))
            return try await QueryDifferentialTests.compare(count, &random)
        }
        let (cases, found) = (counts.map(\.cases).reduce(0, +), counts.map(\.found).reduce(0, +))
        let exceptions = counts.map(\.exceptions).reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        print(
            "\(cases) queries, seed \(Wanted.seed): \(found) found something, "
                + "\(counts.map(\.foundByProsody).reduce(0, +)) in Prosody; "
                + "\(counts.map(\.equal).reduce(0, +)) equal to the byte; exceptions:")
        for (rules, count) in exceptions.sorted(by: { $0.value > $1.value }) { print("    \(count) \(rules.name)") }
        #expect(cases == wanted)
        #expect(found * 2 >= cases, "at least half of the queries find something")
        expectNothing(counts.flatMap(\.wrong))
    }

    private static func compare(_ count: Int, _ random: inout Seeded) async throws -> Count {
        var result = Count()
        var left = count
        while left > 0 {
            let cases = makeCases(min(left, 5_000), &random)
            left -= cases.count
            let theirs = try await prosody(cases)
            let ours = try ourAnswers(cases)
            for (place, asked) in cases.enumerated() { result.add(asked, ours[place], theirs[place]) }
        }
        return result
    }

    private static func makeCases(_ count: Int, _ random: inout Seeded) -> [Case] {
        var maker = TreeMaker()
        return (0..<count).map { _ in
            let tree = maker.tree(&random)
            let query = FindQuery.random(for: tree, &random)
            var rules = FindRules.all
            let isServer = random.chance(20)
            if !isServer { rules.remove(.streamSpace) }
            let isTranslated = random.chance(80)
            if isTranslated { rules.remove(.foreignAttribute) }
            return Case(
                tree: tree, query: query, xml: ModelWriter.stanza(tree, &random), rules: rules,
                asked: isTranslated ? query.translated : query.text, isServer: isServer)
        }
    }

    private static func prosody(_ cases: [Case]) async throws -> [Answer] {
        var questions: [UInt8] = []
        for asked in cases {
            let line = "\(asked.isServer ? 1 : 0) \(asked.xml.count) \(asked.asked.utf8.count)\n"
            questions.append(contentsOf: line.utf8)
            questions.append(contentsOf: asked.xml)
            questions.append(contentsOf: asked.asked.utf8)
        }
        var reading = Reading(try await Reference.prosody.answers(questions))
        var answers: [Answer] = []
        while !reading.isAtEnd {
            let line = try reading.line()
            let number = Int(line.dropFirst(2)) ?? -1
            switch line.first {
            case "e": answers.append(.element(number))
            case "s": answers.append(.text(try reading.block(number)))
            default: answers.append(.nothing)
            }
        }
        try #require(answers.count == cases.count)
        return answers
    }

    private static func ourAnswers(_ cases: [Case]) throws -> [Answer] {
        let parser = StreamParser()
        try parser.feed(Array(header.utf8)) { _ in }
        var answers: [Answer] = []
        for asked in cases {
            try parser.feed(asked.xml) { event in
                guard case .element(let stanza) = event, let element = stanza.children.first else { return }
                answers.append(try answer(asked.query, element))
            }
        }
        try #require(answers.count == cases.count)
        return answers
    }

    private static func answer(_ query: FindQuery, _ asked: Element) throws -> Answer {
        if case .element = query.end {
            guard let found = asked.findFirst(try Query<Element>(parsing: query.text)) else { return .nothing }
            var count = 0
            return number(of: found, in: asked, &count).map(Answer.element) ?? .element(-1)
        }
        let found = asked.findFirst(try Query<String>(parsing: query.text))
        return found.map { .text(Array($0.utf8)) } ?? .nothing
    }

    /// The place of an element in document order.
    private static func number(of wanted: Element, in element: Element, _ count: inout Int) -> Int? {
        if element.isSame(as: wanted) { return count }
        for child in element.children {
            count += 1
            if let found = number(of: wanted, in: child, &count) { return found }
        }
        return nil
    }
}

extension QueryDifferentialTests.Count {
    /// Both answers have to follow the rules; a difference is named by the fewest rules that make the difference.
    fileprivate mutating func add(_ asked: QueryDifferentialTests.Case, _ ours: Answer, _ theirs: Answer) {
        cases += 1
        if ours != .nothing { found += 1 }
        if theirs != .nothing { foundByProsody += 1 }
        let contract = FindRules().answer(asked.query, asked: asked.tree)
        let model = asked.rules.answer(asked.query, asked: asked.tree)
        if ours == theirs { equal += 1 }
        if ours != contract || theirs != model {
            return wrong.append(
                "\(asked.query.text) of \(String(decoding: asked.xml, as: UTF8.self)): ours \(ours.shown), by the "
                    + "contract \(contract.shown); Prosody's \(theirs.shown), by its rules \(model.shown)")
        }
        guard ours != theirs else { return }
        let reason = FindRules.sets.first {
            $0.isSubset(of: asked.rules) && $0.answer(asked.query, asked: asked.tree) == theirs
        }
        exceptions[reason ?? asked.rules, default: 0] += 1
    }
}
