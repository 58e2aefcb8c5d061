/// The documentation of a program, from which the help, the man page and the completion are generated.
///
/// A text consists of paragraphs, tables, and literal lines such as examples: see `HelpText`.
public struct Manual: Sendable {
    /// A command of the program.
    public struct Entry: Sendable {
        public let name: String
        /// The part after the name, such as `JID [--server HOST:PORT]`.
        public let usage: String
        /// A line for the list of commands.
        public let summary: String
        /// Input, output, examples.
        public let details: String
        public let options: [CommandOption]

        public init(name: String, usage: String, summary: String, details: String, options: [CommandOption] = []) {
            self.name = name
            self.usage = usage
            self.summary = summary
            self.details = details
            self.options = options
        }
    }

    /// A section of the man page, such as FILES.
    public struct Section: Sendable {
        public let title: String
        public let text: String

        public init(_ title: String, _ text: String) {
            self.title = title
            self.text = text
        }
    }

    public let program: String
    /// The section of the manual: 1 for commands of users, 8 for servers and their tools.
    public let section: Int
    /// A line: what the program is.
    public let summary: String
    public let description: String
    /// Options of all commands.
    public let options: [CommandOption]
    public let entries: [Entry]
    /// The end of the help without a command.
    public let closing: String
    /// For the man page alone, in the order of mdoc(7).
    public let sections: [Section]
    /// The day of the release, such as 2026-11-26.
    public let day: String

    public init(
        program: String, section: Int, summary: String, description: String, options: [CommandOption],
        entries: [Entry], closing: String, sections: [Section], day: String
    ) {
        self.program = program
        self.section = section
        self.summary = summary
        self.description = description
        self.options = options
        self.entries = entries
        self.closing = closing
        self.sections = sections
        self.day = day
    }

    /// The command called `name`; nil if there is none.
    public func entry(_ name: String) -> Entry? { entries.first { $0.name == name } }

    var head: String { options.isEmpty ? program : "\(program) [OPTIONS]" }
}
