import COpenSSL

/// OpenSSL's texts of errors, half a megabyte.
package enum ErrorTexts {
    /// For a process of our own, before other calls of OpenSSL: the texts are loaded when an error is told, and not before.
    package static func loadLate() { kalij_begin_without_error_texts() }
}
