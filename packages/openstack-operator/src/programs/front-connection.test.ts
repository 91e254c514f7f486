import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "../../programs/front.py");
const python = spawnSync("python3", ["-c", "import ssl"]).status === 0;

test.skipIf(!python)(
  "a connection waits for its client only while nothing of it is unread, or it reads nothing",
  () => {
    const script = `
import runpy, socket
front = runpy.run_path(${JSON.stringify(program)})
ours, client = socket.socketpair()
connection = front["Connection"](ours, ("", 0))
seen = [connection.waits()]
client.send(b"x"); seen.append(connection.waits())
ours.recv(1); seen.append(connection.waits())
connection.sends = True; seen.append(connection.waits())
ours.setblocking(False)
try:
    while True: ours.send(bytes(65536))
except BlockingIOError: seen.append(connection.waits())
ours.close(); seen.append(connection.waits())
print(seen)`;
    const { stdout, stderr } = spawnSync("python3", ["-IS", "-c", script], { encoding: "utf8" });
    expect(stdout.trim(), stderr).toBe("[True, False, True, False, True, False]");
  },
);
