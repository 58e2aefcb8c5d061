#!/usr/bin/python3
"""A large file up and down over TLS on loopback, against the command curl in the same run; the server is nginx.

  run.py FILES [--megabytes N] [--rounds N]

Prints the median speed, CPU time and peak memory of both, and fails if ours has under 0.9 of curl's speed or peaks over
32 MB.
"""
import argparse, os, pathlib, shutil, signal, socket, statistics, subprocess, sys, tempfile, time

CONFIGURATION = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {folder}/body; client_max_body_size 0; sendfile on;
  proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/ca.pem; ssl_certificate_key {folder}/key.pem;
    root {folder}/files; location / {{ dav_methods PUT; create_full_put_path on; }}
  }}
}}
"""


def measure(command):
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    if status:
        sys.exit(f"{command[0]}: {status}: {output.decode()}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def serve(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", f"{folder}/key.pem", "-out",
         f"{folder}/ca.pem"], check=True, stderr=subprocess.DEVNULL)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    pathlib.Path(folder, "files").mkdir()
    pathlib.Path(folder, "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port))
    server = subprocess.Popen(["/usr/sbin/nginx", "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"])
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server, port
        except OSError:
            time.sleep(0.05)
    server.kill()
    sys.exit("nginx does not start")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files")
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    # In memory if there is room: a disk's moods would be most of the result.
    size = arguments.megabytes << 20
    in_memory = shutil.disk_usage("/dev/shm").free > 5 * size if os.path.isdir("/dev/shm") else False
    folder = tempfile.mkdtemp(prefix="kalij-files-", dir="/dev/shm" if in_memory else None)
    server, port = serve(folder)
    source, target = f"{folder}/source", f"{folder}/target"
    failed = False
    try:
        with open(source, "wb") as file:
            block = os.urandom(1 << 20)
            for _ in range(arguments.megabytes):
                file.write(block)
        url, trust = f"https://localhost:{port}/file", f"{folder}/ca.pem"
        commands = {
            "put": (["curl", "-sSf", "--http1.1", "-H", "Expect:", "--cacert", trust, "-T", source, url],
                    [arguments.files, "put", url, trust, source]),
            "get": (["curl", "-sSf", "--http1.1", "--cacert", trust, "-o", target, url],
                    [arguments.files, "get", url, trust, target]),
        }
        print(f"{arguments.megabytes} MiB over TLS on loopback, nginx, files {'in memory' if in_memory else 'on the disk'}, "
              f"median of {arguments.rounds}")
        print(f"{'':5}{'curl':>12}{'ours':>12}{'ratio':>8}{'CPU curl':>10}{'ours':>8}{'peak curl':>11}{'ours':>8}")
        for name, both in commands.items():
            results = ([], [])
            for _ in range(arguments.rounds):
                for result, command in zip(results, both):
                    result.append(measure(command))
            if name == "get" and subprocess.run(["cmp", source, target]).returncode:
                sys.exit("the file has changed on the way")
            theirs, ours = ([statistics.median(column) for column in zip(*result)] for result in results)
            speed = [arguments.megabytes / seconds for seconds in (theirs[0], ours[0])]
            print(f"{name:5}{speed[0]:8.0f} MB/s{speed[1]:7.0f} MB/s{speed[1] / speed[0]:8.2f}{theirs[1]:8.2f} s"
                  f"{ours[1]:6.2f} s{theirs[2]:8.1f} MB{ours[2]:5.1f} MB", flush=True)
            failed |= speed[1] < 0.9 * speed[0] or ours[2] > 32
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
        shutil.rmtree(folder)
    sys.exit(failed)


main()
