import { execFileSync, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const programs = join(import.meta.dirname, "../../programs");
const python = spawnSync("python3", ["-c", ""]).status === 0;

/** Runs Python that has the prober's names. */
function run(text: string): unknown {
  const program = `import json, sys; sys.path.insert(0, ${JSON.stringify(programs)}); sys.dont_write_bytecode = True\nimport time\nfrom prober import *\nfrom probe import *\n${text}`;
  return JSON.parse(execFileSync("python3", ["-c", program], { encoding: "utf8" }));
}

describe.skipIf(!python)("the prober", () => {
  test.each([
    ["rabbit://nova:a1@h0:5672/nova", [["nova", "a1", "h0", "5672"]], "nova"],
    [
      "rabbit://nova_1:x@h0.members:5672,nova_1:x@h1.members:5672/nova",
      [
        ["nova_1", "x", "h0.members", "5672"],
        ["nova_1", "x", "h1.members", "5672"],
      ],
      "nova",
    ],
    ["rabbit://a%40b:c%2Fd@h:1/%2F", [["a@b", "c/d", "h", "1"]], "/"],
    ["rabbit://a:b@h:1", [["a", "b", "h", "1"]], "/"],
  ])("reads accounts and hosts of %s", (url, hosts, vhost) => {
    expect(run(`print(json.dumps(parsed_url(${JSON.stringify(url)})))`)).toEqual([hosts, vhost]);
  });

  test.each([
    ["scheduler", "[DEFAULT]\n", "pod"],
    ["compute", "[DEFAULT]\n", "node"],
    [
      "cinder-volume",
      "[DEFAULT]\nenabled_backends = ceph,old\n[ceph]\nbackend_host = cinder-volume\n",
      "cinder-volume@ceph",
    ],
    ["cinder-volume", "[DEFAULT]\nenabled_backends = lvm\n[lvm]\n", "pod@lvm"],
    ["manila-share", "[DEFAULT]\nhost = manila-share\nenabled_share_backends = generic\n", "manila-share@generic"],
    ["manila-scheduler", "[DEFAULT]\nhost = manila-share\n", "manila-share"],
  ])("asks the process of %s by the name that it has at its broker", (topic, configuration, expected) => {
    const lines = [
      "os.environ['NODE_NAME'] = 'node'; socket.gethostname = lambda: 'pod'",
      `p = configparser.RawConfigParser(); p.read_string(${JSON.stringify(configuration)})`,
      `print(json.dumps(server_of(p, '${topic}')))`,
    ];
    expect(run(lines.join("\n"))).toBe(expected);
  });

  test("asks the process whose host is a variable of its pod by that", () => {
    const lines = [
      "os.environ['OS_DEFAULT__HOST'] = 'manila-share'",
      "p = configparser.RawConfigParser(); p.read_string('[DEFAULT]\\nhost = other\\nenabled_share_backends = generic\\n')",
      "print(json.dumps(server_of(p, 'manila-share')))",
    ];
    expect(run(lines.join("\n"))).toBe("manila-share@generic");
  });

  test("counts silence against the process only while its broker responds", () => {
    const lines = [
      "at = [0]; s = State(now=lambda: at[0]); seen = []",
      "def note(): seen.append([s.startup(), s.ready(), s.live()])",
      "note()",
      "s.responded(); note()",
      "s.silent(); at[0] = 29; s.silent(); note()",
      "at[0] = 31; note()",
      "s.away('gone'); at[0] = 1000; note()",
      "s.silent(); note()",
      "s.responded(); note()",
      "print(json.dumps(seen))",
    ];
    expect(run(lines.join("\n"))).toEqual([
      [false, false, true],
      [true, true, true],
      [true, false, true],
      [true, false, false],
      [true, false, true],
      [true, false, true],
      [true, true, true],
    ]);
  });

  test("reports silence, the broker's absence and the time of the last ping", () => {
    const lines = [
      "at = [0]; s = State(now=lambda: at[0]); seen = []",
      "def note(): seen.append([l.split()[-1] for l in s.metrics('openstack/cloud', 'nova-conductor').splitlines() if not l.startswith('#')])",
      "s.responded(0.25); note()",
      "s.silent(); at[0] = 90; note()",
      "s.away('gone'); note()",
      "print(json.dumps(seen))",
    ];
    expect(run(lines.join("\n"))).toEqual([
      ["0", "0", "0.25"],
      ["90", "0", "0.25"],
      ["0", "1", "0.25"],
    ]);
  });

  test.each([
    ["prober.py", ["serve", "0", "nova", "scheduler"]],
    ["ovn-exporter.py", ["0", "switch"]],
  ])("ends when its pod does: %s", async (program, args) => {
    // As process 1 it would ignore a signal that it does not handle; here that one would end it.
    const text = `import runpy, sys, socketserver; sys.dont_write_bytecode = True
served = socketserver.BaseServer.serve_forever
def serve(self, *more): print("up", flush=True); served(self, *more)
socketserver.BaseServer.serve_forever = serve
sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name="__main__")`;
    const command = ["-c", text, join(programs, program), ...args];
    const child = spawn("python3", command, { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve([code, signal])));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });

  test("finds a process by its program, also with a title of its own, and not itself", () => {
    const found = run(
      // The whole name is nowhere in this command.
      `import subprocess
name = "cw-test" + "-worker"
def started(*command):
    return subprocess.Popen(command, executable="/bin/sleep")
def titled(title):
    process = started(title, "60")
    time.sleep(0.2)
    result = runs(name)
    process.kill(); process.wait()
    return result
print(json.dumps([
    titled(f"neutron-server: periodic (/usr/bin/python3 /usr/bin/{name})"),
    titled(f"/usr/bin/{name}"),
    titled(f"/usr/bin/{name}-2"),
    runs(name),
]))`,
    );
    expect(found).toEqual([true, true, false, false]);
  });

  test("takes silence behind an accepted connection for none", () => {
    const found = run(
      `import threading
def served(answer):
    server = socket.create_server(("127.0.0.1", 0))
    def serve():
        connection, _ = server.accept()
        if connection.recv(8) == b"AMQP\\x00\\x00\\x09\\x01" and answer:
            connection.sendall(answer)
        time.sleep(2)
    threading.Thread(target=serve, daemon=True).start()
    return greets(server.getsockname()[1], 1)
closed = socket.create_server(("127.0.0.1", 0))
port = closed.getsockname()[1]
closed.close()
print(json.dumps([served(b"\\x01"), served(b""), greets(port, 1)]))`,
    );
    expect(found).toEqual([true, false, false]);
  });

  test("takes what a name server says to a question that it refuses for life, and nothing else", () => {
    const found = run(
      `import threading
def served(reply):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    def serve():
        query, address = server.recvfrom(512)
        if reply:
            server.sendto(reply(query), address)
        time.sleep(2)
    threading.Thread(target=serve, daemon=True).start()
    return resolves(server.getsockname()[1], 1)
refused = lambda query: query[:2] + b"\\x80\\x05" + query[4:]
print(json.dumps([served(refused), served(lambda query: b"\\0\\0" if query[:2] != b"\\0\\0" else b"\\1\\1"), served(None), resolves(1, 1)]))`,
    );
    expect(found).toEqual([true, false, false, false]);
  });

  test("asks a server of HTTP behind a socket, and not its application", () => {
    const found = run(
      `import http.server, socketserver, tempfile
paths = []
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        paths.append(self.path)
    def log_message(self, *_):
        pass
path = tempfile.mkdtemp() + "/socket"
before = answers(path, 1)
server = socketserver.UnixStreamServer(path, Handler)
server.handle_error = lambda *_: None
silent = answers(path, 0.2)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps([before, silent, answers(path, 10), paths]))
server.shutdown(); os.remove(path); os.rmdir(os.path.dirname(path))`,
    );
    expect(found).toEqual([false, false, true, []]);
  });
});
