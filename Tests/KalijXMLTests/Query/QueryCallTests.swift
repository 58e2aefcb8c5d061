import KalijXML
import Testing

/// The ways to ask, and the rules common to all of them.
@Suite struct QueryCallTests {
    private let root: Element

    init() throws {
        root = try Element.parse(
            """
            <iq xmlns='jabber:client' from='a@b'><q xmlns='urn:one'><i n='1'>one</i><i n='2'/></q>\
            <q xmlns='urn:two'><i n='3' v='x y'>three<b/>more</i></q><q xmlns='urn:two'><i n='4'>four</i></q></iq>
            """)
    }

    private struct Refused: Error {}

    @Test("bytes are lent for the first result and for each, in document order; the closure's error comes out")
    func bytes() throws {
        #expect(root.withFirst("{urn:two}q/i#") { String(decoding: $0, as: UTF8.self) } == "threemore")
        #expect(root.withFirst("{urn:two}q/i<n=%@>#", "4") { $0.count } == 4)
        #expect(root.withFirst("{urn:two}q/none#") { $0.count } == nil)
        #expect(throws: Refused.self) { try root.withFirst("@from") { _ in throw Refused() } }
        var texts: [String] = []
        root.withEach("{*}q/i#") { texts.append(String(decoding: $0, as: UTF8.self)) }
        #expect(texts == ["one", "threemore", "four"])
        var calls = 0
        #expect(throws: Refused.self) {
            try root.withEach("{*}q/i@n") { _ throws(Refused) in
                calls += 1
                if calls == 2 { throw Refused() }
            }
        }
        #expect(calls == 2)
    }

    @Test("an element that leads nowhere is left again: the next element on each level is tried")
    func backtracking() throws {
        let tree = try Element.parse("<a><b><c/></b><b><d/><c><d/></c></b><b><c><d n='1'/><d n='2'/></c></b></a>")
        #expect(tree.findFirst("b/c/d@n") == "1")
        #expect(tree.find("b/c/d@n") == ["1", "2"])
        #expect((tree.find("b/c/d") as [Element]).count == 3)
        #expect(tree.find("/a/b/c/d<n=2>@n") == ["2"])
        #expect((tree.findFirst("b/c/e") as Element?) == nil)
        #expect((tree.findFirst("/b/c") as Element?) == nil)
    }

    @Test("% arguments and interpolated values give the same, in any mixture")
    func values() {
        let number = 3
        #expect(root.find("{*}q/i<n=%d>@v", 3) == ["x y"])
        #expect(root.findFirst("{*}q/i<n=%@><v=%@>@n", "3", "x y") == "3")
        #expect(root.findFirst("{*}q/i<n=\(number)><v=x \("y")>@n") == "3")
        #expect(root.findFirst("{*}q/i<n=\(number)><v=%@ y>@n", "x") == "3")
        #expect(root.check("{*}q/i<v=\("x") \("y")>"))
        #expect(!root.check("{*}q/i<v=\("x")>"))
        #expect(!root.check("{*}q/i<v=\("x y z")>"))
        #expect(root.check("{*}q/i<n=%u>" as Query<Element>, UInt(4)))
    }

    @Test("a filter compares all bytes of a value of any length")
    func lengths() throws {
        for length in 1...40 {
            let value = (0..<length).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) }
            let element = Element("a", attributes: ["v": String(value)])
            #expect(try element.check(Query<Element>(parsing: "/<v=\(String(value))>")))
            for place in 0..<length {
                var other = value
                other[place] = "!"
                #expect(try !element.check(Query<Element>(parsing: "/<v=\(String(other))>")))
            }
            #expect(try !element.check(Query<Element>(parsing: "/<v=\(String(value))x>")))
        }
    }

    @Test("a name that got its id after the tree was made is found, and so is a name without an id")
    func lateNames() throws {
        let tree = try Element.parse("<late><never1 never2='v' xmlns='never:3'><late4 late5='w'/></never1></late>")
        #expect(try tree.findFirst(Query<String>(parsing: "{never:3}never1@never2")) == "v")
        #expect(try tree.findFirst(Query<String>(parsing: "{never:3}never1/late4@late5")) == "w")
        #expect(tree.findFirst("{never:3}never1/late4<late5=w>@late5") == "w")
        #expect(tree.findFirst("{*}never1<never2=v>@never2") == "v")
    }

    @Test("elements built by a program inherit their namespace, and queries see the namespace")
    func built() {
        let stanza = Element("iq", xmlns: "jabber:client")
        let query = Element("query", xmlns: "urn:q")
        query.add(Element("item", attributes: ["n": "1"]))
        stanza.add(query)
        stanza.add(Element("own", attributes: ["n": "2"]))
        #expect(stanza.findFirst("{urn:q}query/item@n") == "1")
        #expect(stanza.findFirst("{urn:q}query/{urn:q}item@n") == "1")
        #expect(stanza.findFirst("{jabber:client}own@n") == "2")
        #expect(stanza.findFirst("{urn:q}query/{jabber:client}item@n") as String? == nil)
    }
}

/// Types of results from outside.
@Suite struct QueryValueTests {
    private struct Even: QueryValue {
        var number: Int
        static func isGiven(by kind: QueryKind) -> Bool { kind == .text }
        static func value(of match: QueryMatch) -> Even? {
            Int(match.text).flatMap { $0 % 2 == 0 ? Even(number: $0) : nil }
        }
    }

    @Test("a type of results from outside the module: a failed conversion is no result")
    func custom() throws {
        let tree = try Element.parse("<a><n>1</n><n>2<x/></n><n>3</n><n>4</n></a>")
        #expect((tree.findFirst("n#") as Even?)?.number == 2)
        #expect((tree.find("n#") as [Even]).map(\.number) == [2, 4])
    }

    private protocol Named {}
    private struct One: Named {}
    private struct Two: Named {}
    private struct Three: Named {}
    private struct Pair<Left, Right>: Named, QueryValue {
        static func isGiven(by kind: QueryKind) -> Bool { kind == .text }
        static func value(of match: QueryMatch) -> Pair? { match.text == "x" ? Pair() : nil }
    }

    private func pair<Left: Named, Right: Named>(_: Left.Type, _: Right.Type) -> any Named.Type {
        Pair<Left, Right>.self
    }

    private func ask<Left: Named, Right: Named>(_: Left.Type, _: Right.Type, _ tree: Element) -> Bool {
        tree.findFirst("b@c") as Pair<Left, Right>? != nil && tree.check("b<c=\("x")>@c" as Query<Pair<Left, Right>>)
    }

    @Test("more literals than are kept for ever work like the others")
    func many() throws {
        let tree = try Element.parse("<a><b c='x'/></a>")
        var types: [any Named.Type] = [One.self, Two.self, Three.self]
        types += types.flatMap { left in types.map { pair(left, $0) } }
        types += types.prefix(6).flatMap { left in types.map { pair(left, $0) } }
        // 84 types: 2,520 pairs with two literals each.
        var found = 0
        for _ in 0..<2 {
            for left in types.prefix(30) { for right in types where ask(left, right, tree) { found += 1 } }
        }
        #expect(found == 2 * 30 * 84)
    }

    @Test("threads share compiled literals")
    func threads() async {
        let total = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { QueryValueTests.askOften() } }
            return await group.reduce(0, +)
        }
        #expect(total == 8 * 200 * 3)
    }

    private static func askOften() -> Int {
        guard let tree = try? Element.parse("<a><t1 k='v'>1</t1><t2>2</t2></a>") else { return 0 }
        var count = 0
        for _ in 0..<200 {
            if tree.findFirst("t1#") == "1" { count += 1 }
            if tree.findFirst("t2#") == "2" { count += 1 }
            if tree.findFirst("t1<k=\("v")>#") == "1" { count += 1 }
        }
        return count
    }
}
