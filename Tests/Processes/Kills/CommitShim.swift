import KalijLab

/// A library, loaded before SQLite, that counts the commits of all processes of a scenario and kills the process at a
/// certain commit.
///
/// The release build links SQLite dynamically, so its calls come through here. SQLite itself reports each commit (its
/// commit hook), for any statement.
struct CommitShim {
    /// The moment of the kill within the commit.
    enum Moment: String, CaseIterable {
        /// Nothing of the transaction is in the write-ahead log's last frame yet.
        case before
        /// Half of the next write has reached the file.
        case within
        /// The commit is done; none of its effects has happened.
        case after
    }

    let library: String

    /// Compiles the library.
    init(in laboratory: Laboratory) async throws {
        library = laboratory.path("commit-shim.so")
        let source = laboratory.path("commit-shim.c")
        try Self.source.write(toFile: source, atomically: true, encoding: .utf8)
        try await laboratory.run(
            "/usr/bin/cc", ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source, "-ldl", "-lsqlite3"])
    }

    /// The environment of the scenario's processes.
    /// - Parameters:
    ///   - counter: a file for the number of commits so far.
    ///   - number: the number of the killing commit; 0 for none.
    func environment(counter: String, kill number: Int, _ moment: Moment) -> [String: String] {
        [
            "LD_PRELOAD": preloaded(library), "COMMIT_COUNTER": counter, "COMMIT_KILL": "\(number)",
            "COMMIT_MOMENT": moment.rawValue,
        ]
    }

    private static let source = #"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <sqlite3.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <unistd.h>

        static long *counter;            /* shared by all processes of the scenario */
        static long number;
        static char moment;              /* the first letter of before, within, after */
        static __thread int due_at_write, due_at_return;

        __attribute__((constructor)) static void begin(void) {
            const char *path = getenv("COMMIT_COUNTER");
            if (!path) return;
            int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
            if (file < 0 || ftruncate(file, sizeof *counter)) abort();
            counter = mmap(0, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (counter == MAP_FAILED) abort();
            close(file);
            number = atol(getenv("COMMIT_KILL"));
            moment = *getenv("COMMIT_MOMENT");
        }

        static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

        static int committing(void *unused) {
            (void)unused;
            if (__atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST) == number) {
                if (moment == 'b') die();
                if (moment == 'w') due_at_write = 1; else due_at_return = 1;
            }
            return 0;
        }

        int sqlite3_open_v2(const char *name, sqlite3 **database, int flags, const char *vfs) {
            int (*next)(const char *, sqlite3 **, int, const char *) = dlsym(RTLD_NEXT, "sqlite3_open_v2");
            int result = next(name, database, flags, vfs);
            if (result == SQLITE_OK && counter) sqlite3_commit_hook(*database, committing, 0);
            return result;
        }

        int sqlite3_step(sqlite3_stmt *statement) {
            static int (*next)(sqlite3_stmt *);
            if (!next) next = dlsym(RTLD_NEXT, "sqlite3_step");
            int result = next(statement);
            if (due_at_return) die();
            return result;
        }

        int sqlite3_exec(sqlite3 *database, const char *sql, int (*row)(void *, int, char **, char **), void *context,
                         char **error) {
            static int (*next)(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);
            if (!next) next = dlsym(RTLD_NEXT, "sqlite3_exec");
            int result = next(database, sql, row, context, error);
            if (due_at_return) die();
            return result;
        }

        ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
            static ssize_t (*next)(int, const void *, size_t, off64_t);
            if (!next) next = dlsym(RTLD_NEXT, "pwrite64");
            if (due_at_write) {
                next(file, bytes, count / 2, offset);
                die();
            }
            return next(file, bytes, count, offset);
        }
        """#
}
