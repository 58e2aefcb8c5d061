/// A compiled query. Never changes, so that threads can share it.
// Sendable because everything is set up before `init` returns; the memory is freed with the last reference.
@usableFromInline
final class Program: @unchecked Sendable {
    let source: String
    /// The memory that a run reads.
    let plan: UnsafeMutablePointer<QueryPlan>
    let form: FormQuery?
    let conversion: Conversion?
    let kind: QueryKind
    /// How many interpolated values, and how many arguments of a call, the filters take.
    let interpolations: Int
    let arguments: Int
    /// The bytes referred to by the tests.
    private let names: [UnsafeRawBufferPointer]

    init(_ parsed: ParsedQuery, source: String, names: [UnsafeRawBufferPointer]) {
        self.source = source
        self.names = names
        form = parsed.form
        conversion = parsed.conversion
        kind = parsed.kind
        interpolations = parsed.interpolations
        arguments = parsed.arguments
        plan = .allocate(capacity: 1)
        let steps = UnsafeMutablePointer<PathStep>.allocate(capacity: max(parsed.steps.count, 1))
        for (place, step) in parsed.steps.enumerated() {
            (steps + place).initialize(to: PathStep(step, interpolations: parsed.interpolations))
        }
        let attribute = UnsafeMutablePointer<AttributeTest>.allocate(capacity: 1)
        attribute.initialize(to: parsed.attribute)
        // The plan is the program's own memory and needs no reference to the program.
        plan.initialize(
            to: QueryPlan(
                steps: steps, stepCount: parsed.steps.count, isRooted: parsed.isRooted,
                isItself: parsed.isRooted && parsed.steps.count == 1 && steps.pointee.isAnything,
                ascends: parsed.steps.contains { $0.kind != .children },
                takesValues: parsed.interpolations + parsed.arguments > 0,
                found: parsed.conversion == nil ? .found : .convertible, extraction: parsed.extraction,
                attribute: attribute, attributeKey: parsed.attribute.key, program: .passUnretained(self)))
    }

    deinit {
        for place in 0..<plan.pointee.stepCount { plan.pointee.steps[place].release() }
        plan.pointee.steps.deallocate()
        plan.pointee.attribute.deallocate()
        plan.deallocate()
        for name in names { name.deallocate() }
    }
}

/// The result of the parser.
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

enum Extraction: BitwiseCopyable { case element, attribute, attributes, text, name, form }

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
    var kind = PathStep.Kind.children
    var name = NameTest.any
    var isNegated = false
    var namespace = NamespaceTest.same
    var filters: [Filter] = []
}

struct Filter {
    var attribute: AttributeTest
    var condition: Condition

    enum Condition {
        case equals([ValuePart])
        case matches(RegularExpression)
    }
}

/// A piece of the value in a filter.
enum ValuePart {
    case literal([UInt8])
    case interpolation(Int)
    case argument(Int)
}
