"""A bare Debian 12 that is booted, for the tests of packages and of Documentation/Operating.md."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# The version of the same commands that a test upgrades from.
OLDER = "0.1.9"
# A test that is told to end takes its machine and its folder along.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, timeout=300, **options)


def output(*command):
    return run(*command, stdout=subprocess.PIPE).stdout.strip()


VERSION = output(HERE / "version")


def build_older(folder):
    """Builds the older packages, without the time for compressing."""
    run(HERE / "build", folder, OLDER, stdout=subprocess.DEVNULL,
        env=dict(os.environ, DPKG_DEB_COMPRESSOR_TYPE="gzip", DPKG_DEB_COMPRESSOR_LEVEL="1"))


class Failed(Exception):
    pass


def expect(condition, what):
    print(f"  {'ok' if condition else 'FAILED'}: {what}", flush=True)
    if not condition:
        raise Failed(what)


def until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {seconds} s")
        time.sleep(0.3)


class Machine:
    """A bare Debian that is booted; scripts run as root in /root. Inside there is no network but loopback.

    `packages` has the packages, `root` becomes the root folder.
    """

    def __init__(self, packages, root):
        self.packages, self.root = packages, root
        run(HERE / "bare", packages, root)

    def fetch(self, *lines):
        """Has apt fetch what these lines of a script install later, with the network of this machine."""
        for line in ["apt-get update -qq", *(f"{line} -qq --download-only" for line in lines)]:
            run("chroot", self.root, "sh", "-c", f"cd /root && {line}", stdout=subprocess.DEVNULL)

    def put(self, name, version):
        """Makes the package the only one of its name in /root."""
        for old in (self.root / "root").glob(f"{name}_*.deb"):
            old.unlink()
        for package in self.packages.glob(f"{name}_{version}-*.deb"):
            shutil.copy(package, self.root / "root")

    def __enter__(self):
        self.log = open(f"{self.root}.log", "w")
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", HERE / "boot", self.root], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log)
        try:
            number = pathlib.Path(f"{self.root}.pid")
            until(lambda: number.exists() and number.read_text().strip(), "the first process")
            self.first = number.read_text().strip()
            until(lambda: self.inside("systemctl is-system-running", check=False) in ("running", "degraded"), "systemd is up")
            # A mount that this machine does not allow, for example, is no matter of the packages.
            self.failed = self.failed_units()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def failed_units(self):
        return self.inside("systemctl --failed --plain --no-legend")

    def inside(self, script, check=True):
        """What a script prints on both outputs, without white space around."""
        done = subprocess.run(["nsenter", "--target", self.first, "--all", "env", "-i", "HOME=/root", "DEBIAN_FRONTEND=noninteractive",
                               "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-euc", f"cd /root\n{script}"],
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        if check and done.returncode:
            print(done.stdout)
            raise Failed(f"status {done.returncode} of: {script}")
        return done.stdout.strip()

    def installed(self, package):
        return self.inside(f"dpkg-query -W -f '${{Version}}' {package}")

    def page(self, path):
        """A page of kalij-push; the Debian inside has no program to ask with."""
        return subprocess.run(["nsenter", "--target", self.first, "--net", "curl", "--silent", "--max-time", "5",
                               f"http://127.0.0.1:9820/{path}"], text=True, stdout=subprocess.PIPE).stdout
