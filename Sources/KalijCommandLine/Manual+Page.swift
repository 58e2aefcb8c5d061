import Glibc

extension Manual {
    /// The man page in mdoc(7), with all commands.
    public var page: String {
        var lines = [
            ".Dd \(Self.longDay(day))", ".Dt \(program.uppercased()) \(section)", ".Os",
            ".Sh NAME", ".Nm \(program)", ".Nd \(Roff.line(summary))",
            ".Sh SYNOPSIS", ".Nm \(program)",
        ]
        lines += options.map { ".Op \(Roff.option($0))" }
        lines += [".Ar COMMAND ...", ".Sh DESCRIPTION"] + Roff.blocks(description)
        if !options.isEmpty { lines += [".Sh OPTIONS"] + Roff.options(options) }
        lines.append(".Sh COMMANDS")
        for entry in entries {
            lines += [".Ss \(Roff.line(entry.name))", ".Bd -ragged -offset indent", "\\fB\(program) \(entry.name)\\fR"]
            lines += Roff.lines(entry.usage) + [".Ed", ".Pp"]
            lines += Roff.blocks(entry.details)
            if !entry.options.isEmpty { lines += [".Pp", "Options:"] + Roff.options(entry.options) }
        }
        for section in sections { lines += [".Sh \(section.title)"] + Roff.blocks(section.text) }
        return lines.joined(separator: "\n")
    }

    /// The day in the format of mdoc(7): November 26, 2026. Unchanged if it is not a date.
    private static func longDay(_ day: String) -> String {
        let numbers = day.split(separator: "-").compactMap { Int32($0) }
        guard numbers.count == 3, (1...12).contains(numbers[1]), (1900...9999).contains(numbers[0]) else { return day }
        var time = tm()
        (time.tm_year, time.tm_mon, time.tm_mday) = (numbers[0] - 1900, numbers[1] - 1, numbers[2])
        var text = [CChar](repeating: 0, count: 64)
        let length = strftime(&text, text.count, "%B %e, %Y", &time)
        let bytes = text.prefix(length).map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self).split(separator: " ").joined(separator: " ")
    }
}
