extension Manual {
    /// The help of the program: usage, commands and options. At most 100 columns wide.
    public var help: String {
        let commands = Columns.table(entries.map { ($0.name, $0.summary) })
        let blocks =
            [
                ["usage: \(head) COMMAND ..."], Self.lines(description), ["commands:"] + commands,
                options.isEmpty ? [] : ["options:"] + Self.table(options), Self.lines(closing),
            ]
        return blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    /// The help of a command. Only examples that cannot be wrapped may be wider than 100 columns.
    public func help(of entry: Entry) -> String {
        let blocks = [
            usage(of: entry), Self.lines(entry.details).joined(separator: "\n"),
            (["options:"] + Self.table(entry.options)).joined(separator: "\n"),
        ]
        return blocks.prefix(entry.options.isEmpty ? 2 : 3).joined(separator: "\n\n")
    }

    /// The lines with the usage of a command.
    public func usage(of entry: Entry) -> String {
        let head = "usage: \(self.head) \(entry.name)"
        guard !entry.usage.isEmpty else { return head }
        return Columns.lines(entry.usage, head: head + " ", indent: 8).joined(separator: "\n")
    }

    private static func table(_ options: [CommandOption]) -> [String] {
        Columns.table(options.map { ($0.head, $0.help) })
    }

    private static func lines(_ text: String) -> [String] {
        let text = HelpText(text)
        return zip(text.blocks, text.isApart).flatMap { block, isApart in (isApart ? [""] : []) + lines(of: block) }
    }

    private static func lines(of block: HelpText.Block) -> [String] {
        switch block {
        case .paragraph(let text): Columns.lines(text)
        case .table(let rows): Columns.table(rows.map { ($0.head, $0.text) })
        case .literal(let lines): lines.map { "  " + $0 }
        }
    }
}
