/// A program as read by a run: flat memory, so that nothing is copied or counted during the run.
@usableFromInline
struct QueryPlan: BitwiseCopyable {
    var steps: UnsafeMutablePointer<PathStep>
    var stepCount: Int
    /// Whether the first step tests the element itself instead of its children.
    var isRooted: Bool
    /// Whether the path is only the queried element.
    var isItself: Bool
    /// Whether there is a `..`: several paths can then reach the same match.
    var ascends: Bool
    /// Whether the filters compare with interpolated values or arguments.
    var takesValues: Bool
    /// The outcome of a match: `found`, or `convertible` if the query has a conversion.
    var found: FirstMatch.Outcome
    var extraction: Extraction
    /// Freed with the program.
    var attribute: UnsafeMutablePointer<AttributeTest>
    /// See ``AttributeTest/key``.
    var attributeKey: UInt32
    /// The program that owns the memory.
    var program: Unmanaged<Program>
}

/// A step of a path: to children, to the parent, or back to the element reached (`..//name`).
struct PathStep: BitwiseCopyable {
    enum Kind: BitwiseCopyable { case children, parent, itself }
    /// No name of an element, and no namespace, has this key.
    static let noKey = NameReference.text.raw

    var kind: Kind
    var name: NameTest
    var isNegated: Bool
    var namespace: NamespaceTest
    /// The id of the name, 0 if an id alone does not decide.
    var nameKey: UInt32
    /// The id of the namespace; 0 for any or the parent's, ``noKey`` if the namespace has no id.
    var namespaceKey: UInt32
    var inheritsNamespace: Bool
    var filtering: Filtering
    /// The value of a simple filter; the bytes belong to the filter.
    var filterKey: UInt32
    var filterValue: UnsafeRawBufferPointer
    /// Freed with the program.
    var filters: UnsafeMutablePointer<FilterPlan>
    var filterCount: Int

    enum Filtering: BitwiseCopyable {
        case none
        /// One filter: an ordinary attribute equals a literal value.
        case simple
        case any
    }

    /// `interpolations`: how many interpolated values the query has.
    init(_ parsed: ParsedStep, interpolations: Int) {
        (kind, name, isNegated, namespace) = (parsed.kind, parsed.name, parsed.isNegated, parsed.namespace)
        nameKey = name.reference.isGlobal && !isNegated ? name.reference.raw : 0
        inheritsNamespace = false
        switch namespace {
        case .any: namespaceKey = 0
        case .same: (namespaceKey, inheritsNamespace) = (0, true)
        case .exactly(let test): namespaceKey = test.reference.isGlobal ? test.reference.raw : PathStep.noKey
        }
        filterCount = parsed.filters.count
        filters = .allocate(capacity: max(filterCount, 1))
        for (place, filter) in parsed.filters.enumerated() {
            (filters + place).initialize(to: FilterPlan(filter, interpolations: interpolations))
        }
        (filtering, filterKey) = (filterCount == 0 ? .none : .any, 0)
        filterValue = UnsafeRawBufferPointer(start: nil, count: 0)
        if filterCount == 1, filters.pointee.attributeKey != 0, let literal = filters.pointee.literal {
            (filtering, filterKey, filterValue) = (.simple, filters.pointee.attributeKey, literal)
        }
    }

    func release() {
        for place in 0..<filterCount { filters[place].release() }
        filters.deallocate()
    }

    /// Whether the step takes every element.
    var isAnything: Bool {
        if case .any = namespace { return kind == .children && name.isAny && !isNegated && filterCount == 0 }
        return false
    }
}

/// A name to compare with: by id if both names have an id, else by bytes.
struct NameTest: BitwiseCopyable {
    static var any: NameTest {
        NameTest(reference: .inherited, bytes: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// The name's id; `.none` if there is no id, `.inherited` for any name.
    var reference: NameReference
    var bytes: UnsafeRawBufferPointer

    var isAny: Bool { reference == .inherited }

    @inline(__always)
    func matches(_ name: NameReference, _ tree: TreeView) -> Bool {
        if name == reference { return name != .none }
        // Two ids are two names. Anything else may be a name with an id given after the tree was made.
        if name.isGlobal && reference.isGlobal { return false }
        return tree.isName(name, bytes)
    }
}

enum NamespaceTest: BitwiseCopyable {
    /// The namespace of the parent; any, if there is no parent.
    case same
    case any
    case exactly(NameTest)
}

struct AttributeTest: BitwiseCopyable {
    var name = NameTest.any
    /// `.any` for an attribute without a namespace.
    var namespace = NameTest.any
    var isNamespaceDeclaration = false

    /// The id of an ordinary attribute's name, 0 if an id alone does not decide.
    var key: UInt32 {
        name.reference.isGlobal && namespace.isAny && !isNamespaceDeclaration ? name.reference.raw : 0
    }
}

/// A filter in flat memory.
struct FilterPlan: BitwiseCopyable {
    var attribute: UnsafeMutablePointer<AttributeTest>
    var attributeKey: UInt32
    /// The pieces of the value, in order.
    var parts: UnsafeMutablePointer<PartPlan>
    var partCount: Int
    /// The expression to look for instead; released with the program.
    var expression: Unmanaged<RegularExpression>?

    init(_ filter: Filter, interpolations: Int) {
        attribute = .allocate(capacity: 1)
        attribute.initialize(to: filter.attribute)
        attributeKey = filter.attribute.key
        switch filter.condition {
        case .equals(let values):
            partCount = values.count
            parts = .allocate(capacity: max(partCount, 1))
            for (place, value) in values.enumerated() {
                (parts + place).initialize(to: PartPlan(value, interpolations: interpolations))
            }
            expression = nil
        case .matches(let found):
            (partCount, parts) = (0, .allocate(capacity: 1))
            expression = .passRetained(found)
        }
    }

    /// The value, if the value is one literal piece.
    var literal: UnsafeRawBufferPointer? {
        partCount == 1 && parts.pointee.place == nil ? parts.pointee.literal : nil
    }

    func release() {
        for place in 0..<partCount { parts[place].literal.deallocate() }
        parts.deallocate()
        attribute.deallocate()
        expression?.release()
    }
}

/// A piece of the value in a filter.
struct PartPlan: BitwiseCopyable {
    /// The bytes of a literal piece.
    var literal: UnsafeRawBufferPointer
    /// The number of the bound value, the interpolated ones before the arguments; nil for a literal.
    var place: Int?

    init(_ part: ValuePart, interpolations: Int) {
        (literal, place) = (UnsafeRawBufferPointer(start: nil, count: 0), nil)
        switch part {
        case .literal(let bytes):
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            copy.copyBytes(from: bytes)
            literal = UnsafeRawBufferPointer(copy)
        case .interpolation(let number): place = number
        case .argument(let number): place = interpolations + number
        }
    }
}
