#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A Swift type for the values of a field, both read and written.
///
/// Reading is as strict as the conversions of the query language: nil if the text does not convert. A field has to have
/// exactly one value, except for `String`, which joins lines, and `[String]`, which takes all values. JIDs are strings.
public protocol FormValue {
    /// nil if the values do not convert.
    init?(formValues: [String])
    /// The values to write into the field.
    var formValues: [String] { get }
}

extension FormValue {
    fileprivate static func converted(
        _ values: [String], _ conversion: (UnsafeRawBufferPointer) -> Self?
    ) -> Self? {
        guard values.count == 1, let value = values.first else { return nil }
        return withBytes(of: value, conversion)
    }
}

/// The whole text: several values are several lines (XEP-0004 section 3.3, `text-multi`).
extension String: FormValue {
    public init?(formValues: [String]) {
        if formValues.isEmpty { return nil }
        self = formValues.joined(separator: "\n")
    }
    public var formValues: [String] { [self] }
}

extension [String]: FormValue {
    public init?(formValues: [String]) { self = formValues }
    public var formValues: [String] { self }
}

/// Written as `1` and `0`, like the examples of XEP-0004; `true` and `false` are read, too.
extension Bool: FormValue {
    public init?(formValues: [String]) {
        guard let value = Self.converted(formValues, Conversions.bool) else { return nil }
        self = value
    }
    public var formValues: [String] { [self ? "1" : "0"] }
}

extension Int: FormValue {
    public init?(formValues: [String]) {
        guard let value = Self.converted(formValues, Conversions.integer) else { return nil }
        self = value
    }
    public var formValues: [String] { [String(self)] }
}

extension UInt: FormValue {
    public init?(formValues: [String]) {
        guard let value = Self.converted(formValues, Conversions.integer) else { return nil }
        self = value
    }
    public var formValues: [String] { [String(self)] }
}

extension Double: FormValue {
    public init?(formValues: [String]) {
        guard let value = Self.converted(formValues, Conversions.double) else { return nil }
        self = value
    }
    public var formValues: [String] { [String(self)] }
}

/// A date and time as in XEP-0082, written in UTC.
extension Date: FormValue {
    public init?(formValues: [String]) {
        guard let value = Self.converted(formValues, Conversions.date) else { return nil }
        self = value
    }
    public var formValues: [String] { [DateTime.text(self)] }
}

/// Base64.
extension Data: FormValue {
    public init?(formValues: [String]) {
        guard let value = Self.converted(formValues, Conversions.base64) else { return nil }
        self = value
    }
    public var formValues: [String] { [base64EncodedString()] }
}

extension UUID: FormValue {
    public init?(formValues: [String]) {
        guard let value = Self.converted(formValues, Conversions.uuid) else { return nil }
        self = value
    }
    public var formValues: [String] { [uuidString.lowercased()] }
}
