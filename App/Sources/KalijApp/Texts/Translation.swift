import CIntl
import Glibc

/// The text in the user's language (gettext).
public func tr(_ text: String) -> String {
    text.withCString { String(cString: dgettext(Translations.domain, $0)) }
}

/// The text in the user's language, with values for its named placeholders: `tr("{n} unread", ["n": "3"])`.
public func tr(_ text: String, _ values: [String: String]) -> String { filled(tr(text), values) }

/// The text for a number; `{n}` is the number.
public func tr(_ one: String, _ many: String, _ count: Int) -> String {
    let number = UInt(max(0, count))
    let text = one.withCString { one in
        many.withCString { String(cString: dngettext(Translations.domain, one, $0, number)) }
    }
    return filled(text, ["n": "\(count)"])
}

/// Replaces the named placeholders in a single pass: a value with braces remains unchanged.
func filled(_ text: String, _ values: [String: String]) -> String {
    var (result, rest) = ("", Substring(text))
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
        result += rest[..<open]
        let name = String(rest[rest.index(after: open)..<close])
        result += values[name] ?? String(rest[open...close])
        rest = rest[rest.index(after: close)...]
    }
    return result + rest
}

/// The catalogs of texts.
public enum Translations {
    static let domain = "kalij-app"

    /// Sets the user's locale, and the folder of the catalogs.
    public static func begin(in folder: String) {
        setlocale(LC_ALL, "")
        bindtextdomain(domain, folder)
        bind_textdomain_codeset(domain, "UTF-8")
    }
}
