import COpenSSL

/// OpenSSL's texts of errors, half a megabyte.
package enum ErrorTexts {
    /// For a dedicated process, before other calls of OpenSSL: the texts are loaded when the first error is described.
    package static func loadLate() { kalij_begin_without_error_texts() }
}
