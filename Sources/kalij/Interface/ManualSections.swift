import KalijCommandLine

/// The sections of the man page after the commands.
enum ManualSections {
    static let all = [
        Manual.Section(
            "ENVIRONMENT",
            """
              XDG_DATA_HOME     accounts are stored in its folder `kalij`; without it, in ~/.local/share/kalij
              XDG_CONFIG_HOME   defaults are read from its file `kalij/config`; without it, from ~/.config/kalij/config
              KALIJ_PASSWORD    the password of `kalij login`, `register` and `password`
              KALIJ_CORE_DUMPS  with 1, a crash may write a core file, which has keys and texts in it
              TZ                the time zone of the times that are printed
            """),
        Manual.Section(
            "FILES",
            """
            The configuration file, ~/.config/kalij/config, has an option a line, and comments in lines that begin with #. These
            options may stand there: \(ConfigFile.habits.sorted().joined(separator: ", ")).

            Accounts are in ~/.local/share/kalij, readable by their user alone. `kalij logout JID --remove` deletes an account
            there.
            """),
        Manual.Section(
            "EXIT STATUS",
            """
              0   done
              1   nothing found
              64  wrong usage
              65  bad input
              69  the server cannot be reached, or gives wrong answers
              75  try again later; or the output cannot be written
              77  the server refuses the login
              78  the database or the configuration cannot be used
            """),
        Manual.Section(
            "EXAMPLES",
            """
              kalij login juliet@example.org
              kalij run
              kalij send romeo@example.org "Wherefore art thou?"
              kalij history romeo@example.org
            """),
    ]
}
