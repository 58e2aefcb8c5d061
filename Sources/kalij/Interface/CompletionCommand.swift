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

        The scripts ask `kalij completion words -- WORD...` for the words that may stand at the place of the last WORD.

        example:
          source <(kalij completion bash)
        """
    static let options: [Arguments.Option] = []
    static let usesAccounts = false

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...Int.max - 1)
        if arguments.words[0] == "words" {
            for line in Help.manual.completed(Array(arguments.words.dropFirst())).lines {
                Output.line(PrintedText(asIs: line))
            }
            return .done
        }
        try arguments.expect(1...1)
        guard let shell = Completion(rawValue: arguments.words[0]) else {
            throw Failure(.usage, "no completion for \"\(arguments.words[0])\": bash, zsh or fish")
        }
        Output.line(PrintedText(asIs: shell.script(for: "kalij")))
        return .done
    }
}
