import KalijCore

extension EventKey {
    /// The state of a transfer.
    public static let transfer = EventKey(
        "transfer",
        "the state of an upload: `waiting`, `asking` (for a slot), `putting`, `sealed` (the last block may have left), `done`, "
            + "`failed` or `cancelled`; or of a download: `offered`, `wanted`, `loading`, `stored` or `failed`")
    /// The progress of a transfer.
    public static let bytes = EventKey("bytes", "how many bytes of a file have been transferred")
    /// The size of a file.
    public static let size = EventKey("size", "the size of a file in bytes")
    /// The name of a file.
    public static let fileName = EventKey("file_name", "the name of a file, as its sender says")
}
