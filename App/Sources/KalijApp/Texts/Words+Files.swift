extension Words {
    // Actions on files
    public static var attach: String { tr("Attach") }
    public static var saveAs: String { tr("Save as") }
    public static var download: String { tr("Download") }
    public static var stop: String { tr("Stop") }
    public static var resume: String { tr("Go on") }
    public static var remove: String { tr("Remove") }
    public static func remove(_ name: String) -> String { tr("Remove {name}", ["name": name]) }
    public static var attachments: String { tr("Attached files") }
    public static var description: String { tr("Description") }

    // Kinds of files
    public static func picture(_ name: String) -> String {
        name.isEmpty ? tr("Picture") : tr("Picture {name}", ["name": name])
    }
    public static func video(_ name: String) -> String {
        name.isEmpty ? tr("Video") : tr("Video {name}", ["name": name])
    }
    public static func sound(_ name: String) -> String {
        name.isEmpty ? tr("Sound") : tr("Sound {name}", ["name": name])
    }
    public static func document(_ name: String) -> String {
        name.isEmpty ? tr("Document") : tr("Document {name}", ["name": name])
    }
    public static func archive(_ name: String) -> String {
        name.isEmpty ? tr("Archive") : tr("Archive {name}", ["name": name])
    }

    // States of files
    public static func waiting(for reason: String) -> String { tr("Waiting: {reason}", ["reason": reason]) }
    public static var noConnection: String { tr("no connection") }
    public static var fileBefore: String { tr("another file is sent first") }
    public static var noUploads: String { tr("the server takes no files") }
    public static var tooSlow: String { tr("the connection is too slow for a file of this size") }
    public static var lostConnection: String { tr("the connection was lost") }
    public static var notNow: String { tr("the server does not take it now") }
    public static var stopped: String { tr("Stopped") }
    public static var uploading: String { tr("Uploading") }
    public static func uploading(_ percent: Int) -> String { tr("Uploading, {n} percent", ["n": "\(percent)"]) }
    public static var downloading: String { tr("Downloading") }
    public static func downloading(_ percent: Int) -> String { tr("Downloading, {n} percent", ["n": "\(percent)"]) }
    public static var notDownloaded: String { tr("Not downloaded") }
    public static func notDownloaded(why: String) -> String { tr("Not downloaded: {reason}", ["reason": why]) }
    public static var noAddress: String { tr("The sender has named no usable address of the file") }
    public static var notShown: String { tr("Not shown: the picture is damaged, too large, or of an unusual format") }

    // Files that are not accepted
    public static func notAttached(_ name: String, _ reason: String) -> String {
        tr("{name} is not sent: {reason}", ["name": name, "reason": reason])
    }
    public static var isFolder: String { tr("it is no file") }
    public static var notStored: String { tr("it cannot be stored") }
    public static var cannotOpen: String { tr("No program opens this file") }
    public static func notSaved(_ reason: String) -> String { tr("Not saved: {reason}", ["reason": reason]) }
    public static func saved(_ name: String) -> String { tr("Saved as {name}", ["name": name]) }

    /// A size with the prefixes of SI: "118 KB".
    public static func bytes(_ count: Int64) -> String {
        let count = max(0, count)
        guard count >= 1000 else { return tr("{n} byte", "{n} bytes", Int(count)) }
        var (value, unit) = (Double(count) / 1000, 0)
        while value >= 999.5, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        let tenths = Int((value * 10).rounded())
        let digits = value < 9.95 && tenths % 10 != 0 ? "\(tenths / 10).\(tenths % 10)" : "\(Int(value.rounded()))"
        return digits + "\u{A0}" + units[unit]
    }

    private static let units = ["KB", "MB", "GB", "TB"]
}
