import FoundationEssentials
import KalijXML
import Testing

/// The meaning of each part of a query (`QueryLanguage.md` in KalijXML's documentation).
@Suite struct QueryMeaningTests {
    private let root: Element

    init() throws {
        root = try Element.parse(
            """
            <iq xmlns='jabber:client' type='result' id='1' xml:lang='en'><a n='1'><b n='2'>x</b><b n='3'/></a>\
            <a n='4' xmlns='other'><b n='5'>y</b></a><c xmlns:p='urn:p' p:q='6'>one<d/>two</c></iq>
            """)
    }

    private func texts(_ query: Query<String>) -> [String] { root.find(query) }
    private func names(_ query: Query<Element>) -> [String] {
        (root.find(query) as [Element]).map { $0["n"] ?? $0.name }
    }

    @Test("children of children, all matches, in document order")
    func paths() {
        #expect(names("a") == ["1"])
        #expect(names("{*}a") == ["1", "4"])
        #expect(names("{*}a/b") == ["2", "3", "5"])
        #expect(names("{other}a/b") == ["5"])
        #expect(names("a/{other}b") == [])
        #expect(texts("{*}a/b@n") == ["2", "3", "5"])
    }

    @Test("a leading / selects the element asked itself")
    func rooted() throws {
        #expect(names("/iq") == ["iq"])
        #expect(names("/message") == [])
        #expect(names("/{jabber:client}iq/a") == ["1"])
        #expect(names("/{other}iq/a") == [])
        #expect(names("") == ["iq"])
        let child = try #require(root.child("a"))
        #expect(child.find("/a") as [Element] == [child])
        #expect(child.find("/@n") == ["1"])
    }

    @Test("wildcards, negated names, and a namespace without a name")
    func wildcards() {
        #expect(names("*") == ["1", "c"])
        #expect(names("{*}*") == ["1", "4", "c"])
        #expect(names("{other}") == ["4"])
        #expect(names("{*}!a") == ["c"])
        #expect(names("!c") == ["1"])
    }

    @Test("/@x, /@@, /#, /$ and /<...> ask the element itself; a leading @x does, too")
    func short() {
        #expect(texts("/@type") == ["result"])
        #expect(texts("@type") == ["result"])
        #expect(texts("/$") == ["iq"])
        #expect(texts("/#") == [])
        #expect(root.check("/<type=result>"))
        #expect(!root.check("/<type=error>"))
        let attributes: [String: String]? = root.findFirst("/@@")
        #expect(attributes == ["xmlns": "jabber:client", "type": "result", "id": "1", "xml:lang": "en"])
    }

    @Test("../rest is asked of the parent; nothing lies above the root")
    func ascending() throws {
        #expect(names("a/b/..") == ["1"])
        #expect(names("a/b/../") == ["1"])
        #expect(names("a/b/../b") == ["2", "3"])
        #expect(texts("a/b/..//@n") == ["1"])
        #expect(texts("a/b/../@n") == ["2", "3"])
        #expect(names("..") == [])
        #expect(names("../..") == [])
        #expect(names("../iq") == ["iq"])
        #expect(names("a/../../../iq") == [])
        let inner = try #require(root.child("a")?.child("b"))
        #expect(inner.find("../../c") as [Element] == [try #require(root.child("c"))])
        #expect(inner.find("..//a@n") == ["1"])
    }

    @Test("attributes: xmlns, xml:lang, and others in a namespace")
    func attributes() {
        #expect(texts("/@xmlns") == ["jabber:client"])
        #expect(texts("/@xml:lang") == ["en"])
        #expect(texts("c@{urn:p}q") == ["6"])
        #expect(texts("c@q") == [])
        #expect(root.find("c@@") == [["xmlns": "jabber:client", "{urn:p}q": "6"]])
    }

    @Test("# is the element's own text; empty text is no result; $ the name")
    func text() {
        #expect(texts("c#") == ["onetwo"])
        #expect(texts("a/b#") == ["x"])
        #expect(texts("a/*$") == ["b", "b"])
    }

    @Test("filters: to the letter, or a regular expression")
    func filters() {
        #expect(names("{*}a/b<n=3>") == ["3"])
        #expect(names("{*}a<n~^[1-3]$>") == ["1"])
        #expect(names("{*}a<n~>") == ["1", "4"])
        #expect(names("{*}a<n=1><n~1>") == ["1"])
        #expect(names("{*}a<m~>") == [])
        #expect(root.check("/<type~(?i)RESULT>"))
        #expect(!root.check("/<type=RESULT>"))
    }

    @Test("in a regular expression . matches a line end, $ only the very end, a character is a code point")
    func regularExpressions() throws {
        let element = try Element.parse("<a b='x&#10;y&#10;' c='😀' d='1>2'/>")
        #expect(element.check("/<b~x.y>"))
        #expect(!element.check("/<b~y$>"))
        #expect(element.check("/<c~^.$>"))
        #expect(element.check("/<d~1\\x3E2>"))
    }

    @Test("a hostile value cannot make a regular expression run long")
    func boundedMatching() {
        let element = Element("a", attributes: ["b": String(repeating: "a", count: 40) + "!"])
        // All ways to match would take hours.
        #expect(!element.check("/<b~^(a+)+$>"))
    }

    @Test("arguments are values: they never change the query")
    func values() {
        let hostile = "x>/%@<y=z>{"
        let element = Element("a", attributes: ["b": hostile, "c": "100%7"])
        #expect(element.check("/<b=\(hostile)>"))
        #expect(element.check("/<b=%@>", hostile))
        #expect(element.check("/<c=%d%%%u>", 100, UInt(7)))
        #expect(element.check("/<c=\(100)%%\(7)>"))
        #expect(!element.check("/<b=\("")>"))
        let empty = Element("a", attributes: ["b": ""])
        #expect(empty.check("/<b=\("")>"))
        #expect(empty.check("/<b=%@>", ""))
    }

    @Test("queries in Prosody's style")
    func prosody() throws {
        let message = try Element.parse(
            "<message xmlns='jabber:client'><body>hi</body><x xmlns='u' y='z'><w>v</w></x></message>")
        #expect(message.findFirst("body#") == "hi")
        #expect(message.findFirst("{u}x@y") == "z")
        #expect(message.findFirst("{u}@y") == "z")
        #expect(message.findFirst("{u}x/w#") == "v")
    }

    @Test("check needs no type, and a failed conversion is no result")
    func checking() {
        #expect(root.check("a/b"))
        #expect(root.check("a/b@n"))
        #expect(root.check("a/b@n|int"))
        #expect(!root.check("/@type|int"))
        let none: Int? = root.findFirst("/@type|int")
        #expect(none == nil)
        #expect(root.find("{*}a/b@n|int") == [2, 3, 5])
    }

    @Test("bytes are lent to a closure")
    func bytes() {
        #expect(root.withFirst("a/b#") { Array($0) } == [UInt8(ascii: "x")])
        #expect(root.withFirst("a/nothing#") { _ in true } == nil)
    }

    @Test("a query made before the tree, and a query made after, find names alike")
    func order() throws {
        let name = "name-\(UUID().uuidString.prefix(8))"
        let tree = try Element.parse("<r><\(name) v='1'/></r>")
        let query = try Query<String>(parsing: "\(name)@v")
        #expect(tree.findFirst(query) == "1")
        #expect(try Element.parse("<r><\(name) v='2'/></r>").findFirst(query) == "2")
    }

    @Test("a result is a reference: changing the result changes the tree; a copy is decoupled")
    func references() throws {
        let first: Element? = root.findFirst("a/b")
        let copy = first?.copy()
        first?["n"] = "9"
        #expect(root.findFirst("a/b@n") == "9")
        #expect(copy?["n"] == "2")
        #expect(copy?.namespace == "jabber:client")
        first?["n"] = "2"
    }
}
