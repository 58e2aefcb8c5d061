/// The scripts with which shells complete a program's words. A script asks the program: `PROGRAM completion words -- WORD...`.
public enum Completion: String, CaseIterable, Sendable {
    case bash, zsh, fish

    public func script(for program: String) -> String {
        switch self {
        case .bash: Self.bashScript(program)
        case .zsh: Self.zshScript(program)
        case .fish: Self.fishScript(program)
        }
    }

    // bash divides words at `=`, `:` and `@`, too: the words are those of the line, and only what follows such a character is
    // replaced.
    private static func bashScript(_ program: String) -> String {
        """
        # Completion of \(program) for bash.
        _\(program.functionName)() {
            local line=${COMP_LINE:0:COMP_POINT} current= words answer word
            read -ra words <<<"$line"
            if [[ $line == *[[:space:]] ]]; then words+=(''); fi
            current=${words[${#words[@]} - 1]}
            local kept=${current%"${current##*[=:@]}"}
            COMPREPLY=()
            while IFS= read -r answer; do
                case $answer in
                    :files) compopt -o default; return ;;
                    :directories) compopt -o dirnames; return ;;
                esac
                word=${answer%%$'\\t'*}
                COMPREPLY+=("${word#"$kept"}")
            done < <(\(program) completion words -- "${words[@]:1}" 2>/dev/null)
        }
        complete -F _\(program.functionName) \(program)
        """
    }

    private static func zshScript(_ program: String) -> String {
        """
        #compdef \(program)
        # Completion of \(program) for zsh.
        _\(program)() {
            local answer
            local -a answers
            while IFS= read -r answer; do
                case $answer in
                    :files) [[ $PREFIX == --*=* ]] && compset -P '*='; _files; return ;;
                    :directories) [[ $PREFIX == --*=* ]] && compset -P '*='; _files -/; return ;;
                esac
                answers+=("${${answer%%$'\\t'*}//:/\\\\:}:${answer#*$'\\t'}")
            done < <(\(program) completion words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
            (( $#answers )) && _describe -t words 'words' answers
        }
        # Read by autoload, or as a script.
        if [ "$funcstack[1]" = "_\(program)" ]; then _\(program) "$@"; else compdef _\(program) \(program); fi
        """
    }

    private static func fishScript(_ program: String) -> String {
        """
        # Completion of \(program) for fish.
        function __\(program.functionName)_words
            set -l current (commandline -ct)
            set -l words (commandline -opc) "$current"
            set -l answers (\(program) completion words -- $words[2..-1] 2>/dev/null)
            switch "$answers[1]"
                case :files
                    __fish_complete_path "$current"
                case :directories
                    __fish_complete_directories "$current"
                case '*'
                    printf '%s\\n' $answers
            end
        end
        complete -c \(program) -f -a '(__\(program.functionName)_words)'
        """
    }
}

extension String {
    fileprivate var functionName: String { String(map { $0 == "-" ? "_" : $0 }) }
}
