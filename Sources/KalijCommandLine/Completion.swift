/// The completion scripts for shells. A script runs the program to query the candidates: `PROGRAM completion words -- WORD...`.
public enum Completion: String, CaseIterable, Sendable {
    case bash, zsh, fish

    public func script(for program: String) -> String {
        switch self {
        case .bash: Self.bashScript(program)
        case .zsh: Self.zshScript(program)
        case .fish: Self.fishScript(program)
        }
    }

    // bash also splits words at `=`, `:` and `@`: the parts, which are adjacent in the line, are joined again. Only the text
    // after such a character is replaced.
    private static func bashScript(_ program: String) -> String {
        """
        # Completion of \(program) for bash.
        _\(program.functionName)() {
            local IFS=$' \\t\\n' rest=${COMP_LINE:0:COMP_POINT} words=() word trimmed answer
            for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
                trimmed=${rest#"${rest%%[![:space:]]*}"}
                # The last word ends at the cursor.
                [[ $trimmed == "$word"* ]] || word=$trimmed
                if [[ ${#words[@]} -eq 0 || $trimmed != "$rest" ]]; then
                    words+=("$word")
                else
                    words[${#words[@]} - 1]+=$word
                fi
                rest=${trimmed#"$word"}
            done
            local current=${words[${#words[@]} - 1]-}
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
                    set -l prefix (string match -r -- '^--[^=]+=' "$current")
                    set -l path (string replace -r -- '^--[^=]+=' '' "$current" | string trim --left --chars '"\\'')
                    for path in (__fish_complete_path "$path")
                        printf '%s%s\\n' "$prefix" $path
                    end
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
