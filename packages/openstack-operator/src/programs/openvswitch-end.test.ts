/** How the program of the switch ends, with played programs of Open vSwitch. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const program = join(import.meta.dirname, "../../programs/openvswitch.sh");
const python = spawnSync("python3", ["-c", ""]).status === 0;

/** Of both processes: makes its sockets and the file of its process, and ends some time after it is requested to. */
const PROCESS = `#!/bin/sh
exec python3 -c '
import os, signal, socket, sys, time
name, folder, run = sys.argv[1], os.environ["PLAYED"], os.environ["RUN_FOLDER"]
def say(what):
    with open(folder + "/log", "a") as file: file.write(name + " " + what + "\\n")
def stop(*_):
    say("stops")
    while not os.path.exists(folder + "/go"): time.sleep(0.02)
    say("ended")
    os._exit(0)
signal.signal(signal.SIGTERM, stop)
with open(run + "/" + name + ".pid", "w") as file: file.write(str(os.getpid()))
paths = [run + "/" + name + ".ctl"] + ([run + "/db.sock"] if name == "ovsdb-server" else [])
sockets = [socket.socket(socket.AF_UNIX) for _ in paths]
for path, each in zip(paths, sockets): each.bind(path)
while True: signal.pause()
' "\${0##*/}"
`;
const VSCTL = `#!/bin/sh
case "$*" in *list-br*) echo br-int ;; esac
`;
/** One of the questions may be cut off by its time, after some lines. */
const OFCTL = `#!/bin/sh
for word in "$@"; do
  case $word in
    dump-tlv-map) echo '  0x102   0x80   4   tun_metadata0' ;;
    dump-groups) echo ' group_id=7,type=select,bucket=actions=drop' ;;
    dump-flows) printf ' %s\\n' 'table=0 actions=group:7' 'table=1 actions=meter:1,drop' ;;
    *) continue ;;
  esac
  [ ! -e "$PLAYED/cut-off-$word" ] || exit 142
done
`;

describe.skipIf(!python)("a switch of a node that is requested to end", () => {
  let dir = "";
  let child: ChildProcess | undefined;
  let said = "";
  const at = (name: string) => join(dir, name);
  const log = () => (existsSync(at("log")) ? readFileSync(at("log"), "utf8") : "");

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "openvswitch-end-"));
    said = "";
    for (const name of ["bin", "run", "kept"]) mkdirSync(at(name));
    const play = (name: string, text: string) => {
      writeFileSync(at(`bin/${name}`), text);
      chmodSync(at(`bin/${name}`), 0o755);
    };
    for (const name of ["ovsdb-server", "ovs-vswitchd"]) play(name, PROCESS);
    play("ovsdb-tool", "#!/bin/sh\n");
    play("ovs-vsctl", VSCTL);
    play("ovs-ofctl", OFCTL);
  });
  afterEach(() => {
    // With all that it started.
    if (child?.pid !== undefined) spawnSync("kill", ["-s", "KILL", "--", `-${child.pid}`]);
    rmSync(dir, { recursive: true, force: true });
  });

  const until = async (check: () => boolean) => {
    while (!check()) {
      if (child?.exitCode !== null) throw new Error(`it ended: ${said}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  const start = async () => {
    const env = {
      PATH: `${at("bin")}:${process.env["PATH"] ?? ""}`,
      PLAYED: dir,
      RUN_FOLDER: at("run"),
      KEPT_FOLDER: at("kept"),
    };
    child = spawn("sh", [program], { env, detached: true, stdio: ["ignore", "pipe", "inherit"] });
    child.stdout?.on("data", (chunk) => (said += String(chunk)));
    const ended = new Promise<number | null>((done) => child?.once("exit", done));
    await until(takesSignals);
    return { ended };
  };
  /** Its last step before it waits. */
  function takesSignals(): boolean {
    const [, caught = "0"] = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${child?.pid}/status`, "utf8")) ?? [];
    const TERM = 15n;
    return ((BigInt(`0x${caught}`) >> (TERM - 1n)) & 1n) === 1n;
  }

  test("ends after its process and its database, however often it is requested", async () => {
    const { ended } = await start();
    child?.kill("SIGTERM");
    const areStopping = () => ["ovs-vswitchd", "ovsdb-server"].every((name) => log().includes(`${name} stops`));
    await until(areStopping);
    child?.kill("SIGTERM");
    // None of the two ends in this time: a program that waits for them still runs after it.
    await Promise.race([ended, new Promise((done) => setTimeout(done, 1000))]);
    expect(child?.exitCode).toBeNull();
    expect(child?.signalCode).toBeNull();
    writeFileSync(at("go"), "");
    expect(await ended).toBe(0);
    expect(log().split("\n")).toEqual(expect.arrayContaining(["ovs-vswitchd ended", "ovsdb-server ended"]));
    expect(said).toBe("");
  });

  test("keeps flows with what they refer to, without those of meters", async () => {
    const { ended } = await start();
    writeFileSync(at("go"), "");
    child?.kill("SIGTERM");
    await ended;
    const kept = (name: string) => readFileSync(at(`kept/${name}.br-int`), "utf8").trim();
    expect(kept("flows")).toBe("table=0 actions=group:7");
    expect(kept("groups")).toBe("group_id=7,type=select,bucket=actions=drop");
    expect(kept("options")).toBe("{class=0x102,type=0x80,len=4}->tun_metadata0");
  });

  test.each(["dump-tlv-map", "dump-groups", "dump-flows"])(
    "keeps no flows where %s was cut off, and says so",
    async (question) => {
      writeFileSync(at(`cut-off-${question}`), "");
      const { ended } = await start();
      writeFileSync(at("go"), "");
      child?.kill("SIGTERM");
      expect(await ended).toBe(0);
      expect(readdirSync(at("kept")).filter((name) => name.startsWith("flows"))).toEqual([]);
      expect(said).toContain("flows of br-int could not be read");
    },
  );
});
