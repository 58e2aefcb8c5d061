import CAdwaita
import KalijApp

/// A picture of the clipboard, stored as it is in a folder of its own: nothing is decoded here.
enum TemporaryPicture {
    /// Stores the bytes of `stream`, which is released.
    /// - Parameters:
    ///   - type: the MIME type.
    ///   - then: called with the path; nil if the bytes cannot be stored.
    static func store(
        _ stream: UnsafeMutablePointer<GInputStream>, _ type: String, _ then: @escaping (String?) -> Void
    ) {
        defer { g_object_unref(raw(stream)) }
        // Six letters X, which GLib replaces. Its error is discarded: the user is shown the app's own words.
        guard let folder = g_dir_make_tmp("kalij-XXXXXX", nil) else { return then(nil) }
        defer { g_free(folder) }
        let ending = type.split(separator: "/").last.map { $0 == "jpeg" ? "jpg" : String($0) } ?? "png"
        let path = String(cString: folder) + "/" + Words.picture("").lowercased() + "." + ending
        guard let file = g_file_new_for_path(path) else { return then(nil) }
        defer { g_object_unref(raw(file)) }
        guard let output = g_file_create(file, G_FILE_CREATE_PRIVATE, nil, nil) else {
            Attachment.remove(temporary: path)
            return then(nil)
        }
        let both = GOutputStreamSpliceFlags(
            rawValue: G_OUTPUT_STREAM_SPLICE_CLOSE_SOURCE.rawValue | G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET.rawValue)
        let (ready, data) = whenReady { output, result in
            let isStored = g_output_stream_splice_finish(cast(output), result, nil) >= 0
            g_object_unref(output)
            if !isStored { Attachment.remove(temporary: path) }
            then(isStored ? path : nil)
        }
        g_output_stream_splice_async(cast(raw(output)), stream, both, 0, nil, ready, data)
    }
}
