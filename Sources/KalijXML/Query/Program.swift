/// A compiled query. Never changes, so that threads can share it.
// Sendable because everything is set up before `init` returns; the pointers are freed with the last reference.
final class Program: @unchecked Sendable {
    let source: String
    let steps: UnsafeMutablePointer<Step>
    let stepCount: Int
    /// Whether the first step is asked of the element itself instead of its children.
    let isRooted: Bool
    /// Whether there is a `..`: matches can then be reached on several ways.
    let ascends: Bool
    let extraction: Extraction
    let attribute: AttributeTest
    let form: FormQuery?
    let conversion: Conversion?
    let kind: QueryKind
    /// How many interpolated values, and how many arguments of a call, the filters take.
    let interpolations: Int
    let arguments: Int
    /// The bytes that the tests point to.
    private let names: [UnsafeRawBufferPointer]

    init(_ parsed: ParsedQuery, source: String, names: [UnsafeRawBufferPointer]) {
        self.source = source
        self.names = names
        stepCount = parsed.steps.count
        steps = .allocate(capacity: max(stepCount, 1))
        for (place, parsedStep) in parsed.steps.enumerated() {
            let filters = UnsafeMutablePointer<Filter>.allocate(capacity: max(parsedStep.filters.count, 1))
            for (number, filter) in parsedStep.filters.enumerated() { (filters + number).initialize(to: filter) }
            let step = Step(
                kind: parsedStep.kind, name: parsedStep.name, isNegated: parsedStep.isNegated,
                namespace: parsedStep.namespace, filters: filters, filterCount: parsedStep.filters.count)
            (steps + place).initialize(to: step)
        }
        isRooted = parsed.isRooted
        ascends = parsed.steps.contains { $0.kind != .children }
        extraction = parsed.extraction
        attribute = parsed.attribute
        form = parsed.form
        conversion = parsed.conversion
        kind = parsed.kind
        interpolations = parsed.interpolations
        arguments = parsed.arguments
    }

    deinit {
        for place in 0..<stepCount {
            steps[place].filters.deinitialize(count: steps[place].filterCount)
            steps[place].filters.deallocate()
        }
        steps.deallocate()
        for name in names { name.deallocate() }
    }
}

/// What the parser found.
struct ParsedQuery {
    var steps: [ParsedStep] = []
    var isRooted = false
    var extraction = Extraction.element
    var attribute = AttributeTest()
    var form: FormQuery?
    var conversion: Conversion?
    var interpolations = 0
    var arguments = 0

    var kind: QueryKind {
        switch extraction {
        case .element: .element
        case .attributes: .attributes
        case .attribute, .text, .name: conversion?.kind ?? .text
        case .form:
            switch form?.part {
            case .value: conversion?.kind ?? .text
            case .field: .field
            default: .form
            }
        }
    }
}

enum Extraction { case element, attribute, attributes, text, name, form }

/// A data form subquery.
struct FormQuery {
    enum Part { case form, value, field }
    var formType: String?
    var type: String?
    var item: Int?
    var part = Part.form
    var field = ""
}

enum Conversion: String, CaseIterable {
    case bool, int, uint, double, datetime, base64, uuid, uuidcast

    var kind: QueryKind {
        switch self {
        case .bool: .bool
        case .int: .int
        case .uint: .uint
        case .double: .double
        case .datetime: .datetime
        case .base64: .base64
        case .uuid, .uuidcast: .uuid
        }
    }
}

struct ParsedStep {
    var kind = Step.Kind.children
    var name = NameTest.any
    var isNegated = false
    var namespace = NamespaceTest.same
    var filters: [Filter] = []
}

/// One way to go: to children, to the parent, or back to the element reached (`..//name`).
struct Step: BitwiseCopyable {
    enum Kind: BitwiseCopyable { case children, parent, itself }
    var kind: Kind
    var name: NameTest
    var isNegated: Bool
    var namespace: NamespaceTest
    /// Freed with the program.
    var filters: UnsafeMutablePointer<Filter>
    var filterCount: Int
}

/// A name to compare with: by id if both have one, else by bytes.
struct NameTest: BitwiseCopyable {
    static var any: NameTest {
        NameTest(reference: .inherited, bytes: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// The name's id; `.none` if it has none, `.inherited` if any name will do.
    var reference: NameReference
    var bytes: UnsafeRawBufferPointer

    var isAny: Bool { reference == .inherited }

    @inline(__always)
    func matches(_ name: NameReference, _ tree: TreeView) -> Bool {
        if name == reference { return name != .none }
        // Two ids are two names. Anything else may be a name that got its id after the tree was made.
        if name.isGlobal && reference.isGlobal { return false }
        return tree.isName(name, bytes)
    }
}

enum NamespaceTest: BitwiseCopyable {
    /// That of the parent; any, if there is no parent.
    case same
    case any
    case exactly(NameTest)
}

struct AttributeTest: BitwiseCopyable {
    var name = NameTest.any
    /// `.any` for an attribute without a namespace.
    var namespace = NameTest.any
    var isNamespaceDeclaration = false
}

struct Filter {
    var attribute: AttributeTest
    var condition: Condition

    enum Condition {
        case equals([ValuePart])
        case matches(RegularExpression)
    }
}

/// A piece of the value that a filter compares with.
enum ValuePart {
    case literal([UInt8])
    case interpolation(Int)
    case argument(Int)
}
