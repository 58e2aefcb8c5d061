#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The kind of a query's results.
public enum QueryKind: String, Sendable {
    /// Elements: no extraction.
    case element
    /// All attributes: `@@`.
    case attributes
    /// Text: an attribute `@name`, the text `#`, the name `$`, or the value of a form's field `\@name\`.
    case text
    /// Text with `|bool`.
    case bool
    /// Text with `|int`.
    case int
    /// Text with `|uint`.
    case uint
    /// Text with `|double`.
    case double
    /// Text with `|datetime`.
    case datetime
    /// Text with `|base64`.
    case base64
    /// Text with `|uuid` or `|uuidcast`.
    case uuid
    /// A data form: `\...\`.
    case form
    /// A field of a data form: `\...&name\`.
    case field
}

/// A type for the results of queries. <doc:QueryLanguage#Typed-results> lists the types of the kinds of queries; custom
/// types read the text of a query.
///
/// ```swift
/// enum Show: String, QueryValue {
///     case away, chat, dnd, xa
///     static func isGiven(by kind: QueryKind) -> Bool { kind == .text }
///     static func value(of match: QueryMatch) -> Show? { Show(rawValue: match.text) }
/// }
/// let show: Show? = element.findFirst("show#")
/// ```
public protocol QueryValue {
    /// Whether a query of this kind gives this type.
    static func isGiven(by kind: QueryKind) -> Bool
    /// The value of a match; nil if the text does not convert: no result.
    static func value(of match: QueryMatch) -> Self?
}

/// A match of a query; good only while the closure runs.
public struct QueryMatch {
    @usableFromInline let context: Element
    @usableFromInline let index: UInt32
    @usableFromInline let plan: UnsafePointer<QueryPlan>
    @usableFromInline let bytes: UnsafeRawBufferPointer

    @inlinable
    init(_ asked: Element, _ index: UInt32, _ core: QueryCore, _ bytes: UnsafeRawBufferPointer) {
        (self.context, self.index, plan, self.bytes) = (asked, index, core.plan, bytes)
    }

    var tree: Tree { context.tree }
    var program: Program { plan.pointee.program.takeUnretainedValue() }

    /// The element at the end of the query's path.
    public var element: Element { Element(tree: context.tree, index: index) }
    /// The kind of the query's results.
    public var kind: QueryKind { program.kind }
    /// The extracted text; "" if the query extracts none.
    @inlinable
    public var text: String { String(decoding: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self) }
}

extension Element: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .element }
    @inlinable
    public static func value(of match: QueryMatch) -> Element? { match.element }
}

extension String: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .text }
    @inlinable
    public static func value(of match: QueryMatch) -> String? { match.text }
}

/// All attributes (`@@`).
extension [String: String]: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .attributes }
    public static func value(of match: QueryMatch) -> [String: String]? { match.element.attributes }
}

extension Bool: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .bool }
    public static func value(of match: QueryMatch) -> Bool? { Conversions.bool(match.bytes) }
}

extension Int: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .int }
    public static func value(of match: QueryMatch) -> Int? { Conversions.integer(match.bytes) }
}

extension UInt: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .uint }
    public static func value(of match: QueryMatch) -> UInt? { Conversions.integer(match.bytes) }
}

extension Double: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .double }
    public static func value(of match: QueryMatch) -> Double? { Conversions.double(match.bytes) }
}

extension Date: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .datetime }
    public static func value(of match: QueryMatch) -> Date? { Conversions.date(match.bytes) }
}

extension [UInt8]: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .base64 }
    public static func value(of match: QueryMatch) -> [UInt8]? { Conversions.base64(match.bytes).map { [UInt8]($0) } }
}

extension Data: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .base64 }
    public static func value(of match: QueryMatch) -> Data? { Conversions.base64(match.bytes) }
}

extension UUID: QueryValue {
    public static func isGiven(by kind: QueryKind) -> Bool { kind == .uuid }
    public static func value(of match: QueryMatch) -> UUID? {
        match.program.conversion == .uuidcast ? Conversions.castUUID(match.bytes) : Conversions.uuid(match.bytes)
    }
}

/// The result of a query whose kind is determined only at run time, such as a query typed by a user.
public enum QueryResult: Equatable, QueryValue {
    /// A reference to an element.
    case element(Element)
    /// All attributes by name, `xmlns` among them.
    case attributes([String: String])
    /// A text without a conversion.
    case text(String)
    /// The result of `|bool`.
    case bool(Bool)
    /// The result of `|int`.
    case int(Int)
    /// The result of `|uint`.
    case uint(UInt)
    /// The result of `|double`.
    case double(Double)
    /// The result of `|datetime`.
    case date(Date)
    /// The result of `|base64`.
    case bytes([UInt8])
    /// The result of `|uuid` and `|uuidcast`.
    case uuid(UUID)
    /// A whole data form.
    case form(DataForm)
    /// A field of a data form as a whole.
    case field(DataForm.Field)

    public static func isGiven(by kind: QueryKind) -> Bool { true }

    public static func value(of match: QueryMatch) -> QueryResult? {
        switch match.kind {
        case .element: .element(match.element)
        case .attributes: .attributes(match.element.attributes)
        case .text: .text(match.text)
        case .bool: Bool.value(of: match).map(QueryResult.bool)
        case .int: Int.value(of: match).map(QueryResult.int)
        case .uint: UInt.value(of: match).map(QueryResult.uint)
        case .double: Double.value(of: match).map(QueryResult.double)
        case .datetime: Date.value(of: match).map(QueryResult.date)
        case .base64: [UInt8].value(of: match).map(QueryResult.bytes)
        case .uuid: UUID.value(of: match).map(QueryResult.uuid)
        case .form: DataForm.value(of: match).map(QueryResult.form)
        case .field: DataForm.Field.value(of: match).map(QueryResult.field)
        }
    }
}
