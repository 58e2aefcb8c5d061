import KalijAddress
import KalijClient
import KalijCommandLine
import KalijText

enum CompletionCommand: Command {
    static let name = "completion"
    static let usage = "bash|zsh|fish"
    static let summary = "print a script that completes commands and options in a shell"
    static let details = """
        Prints a script for the shell, which then completes commands, options and their values. Debian's package has the scripts in
        their places. Otherwise, for all your shells from now on:

          bash  kalij completion bash >> ~/.bash_completion
          zsh   kalij completion zsh > ~/.zfunc/_kalij, after `mkdir -p ~/.zfunc`, and with `fpath=(~/.zfunc $fpath)` before
                `compinit` in ~/.zshrc
          fish  kalij completion fish > ~/.config/fish/completions/kalij.fish

        Addresses are those of stored conversations and contacts. The scripts ask `kalij completion words -- WORD...` for the words that may stand at the place of the last WORD.

        example:
          source <(kalij completion bash)
        """
    static let options: [Arguments.Option] = []
    static let usesAccounts = false

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...Int.max - 1)
        if arguments.operands[0] == "words" {
            let words = Array(arguments.operands.dropFirst())
            for line in Help.manual.completed(
                words, known: { known($0, in: words).map { PrintedText(field: $0).description } }
            ).lines {
                Output.line(PrintedText(asIs: line))
            }
            return .done
        }
        try arguments.expect(1...1)
        guard let shell = Completion(rawValue: arguments.operands[0]) else {
            throw Failure(.usage, "no completion for \"\(arguments.operands[0])\": bash, zsh or fish")
        }
        Output.line(PrintedText(asIs: shell.script(for: "kalij")))
        return .done
    }

    /// Stored addresses for a placeholder in the help; none if nothing is stored or readable.
    private static func known(_ name: String, in line: [String]) -> [String] {
        guard ["JID", "TO", "ROOM", "--account", "--in"].contains(name) else { return [] }
        let defaults = (try? ConfigFile(for: Arguments()))?.added(to: Arguments(), of: ChatsCommand.self)
        guard let path = try? Kalij.dataDirectory(value("--data", in: line) ?? defaults?.value("--data")) else {
            return []
        }
        let directory = AccountDirectory(path)
        if name == "--account" {
            return (try? AccountTable(directory.read()).all().map { $0.jid.description }) ?? []
        }
        let account = (value("--account", in: line) ?? defaults?.value("--account")).flatMap { try? JID($0) }
        guard let conversations = try? Conversations(directory, of: account) else { return [] }
        let contacts = (try? Contacts(directory).contacts(of: conversations.account).map { $0.jid.description }) ?? []
        return ((try? conversations.heads(includingHidden: true).prefix(1000).map { $0.jid }) ?? []) + contacts
    }

    private static func value(_ option: String, in line: [String]) -> String? {
        for (word, next) in zip(line, line.dropFirst()) where word == option { return next }
        return line.dropLast().first { $0.hasPrefix("\(option)=") }.map { String($0.dropFirst(option.count + 1)) }
    }
}
