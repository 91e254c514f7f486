/** The probe whether a program runs, as the kubelet runs it, of processes of this host. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

const probe = join(import.meta.dirname, "../../programs/probe.py");
const python = spawnSync("python3", ["-c", ""]).status === 0;

describe.skipIf(!python)("the probe of a process that listens to nothing", () => {
  /** No other process of this host has it in its command. */
  const name = `agent-${process.pid}`;
  let dir = "";
  let children: ChildProcess[] = [];

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "probe-"));
    // It says when it runs, and ends when its input does.
    const text = "import sys; print('up', flush=True); sys.stdin.read()";
    for (const file of [name, "lines.py", "other"]) writeFileSync(join(dir, file), text);
  });
  afterEach(async () => {
    const ended = children.map((child) => new Promise((done) => child.once("close", done)));
    for (const child of children) child.stdin?.end();
    await Promise.all(ended);
    children = [];
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const start = async (args: readonly string[], argv0?: string) => {
    const command = argv0 === undefined ? "python3" : process.execPath;
    const child = spawn(command, args, {
      ...(argv0 === undefined ? {} : { argv0 }),
      stdio: ["pipe", "pipe", "inherit"],
    });
    children.push(child);
    await new Promise((done) => child.stdout.once("data", done));
  };
  const asked = () =>
    spawnSync("timeout", ["--signal=KILL", "50", "python3", "-IS", probe, "runs", name], { stdio: "inherit" }).status;

  test("fails where nothing runs the program", () => {
    expect(asked()).toBe(1);
  });

  test.each([
    ["a script runs", [":name"]],
    ["a script runs with options of its interpreter", ["-W", "ignore", ":name", "--config-dir", "/etc"]],
  ])("succeeds where %s", async (_, args) => {
    await start(args.map(path));
    expect(asked()).toBe(0);
  });

  test.each([
    ["a program runs", "/usr/bin/:agent"],
    ["a process has a title with its command", "server: worker (/usr/bin/python3 /usr/bin/:agent --verbose)"],
    ["a process has a title with its arguments", "master: process [/usr/bin/:agent]"],
  ])("succeeds where %s", async (_, title) => {
    await start(["--eval", "console.log('up'); process.stdin.resume()"], title.replace(":agent", name));
    expect(asked()).toBe(0);
  });

  test.each([
    ["process 1 was to run it", [":lines.py", ":agent", ":agent", "--config-dir", "/etc"]],
    ["process 1 was to run it by its path", [":lines.py", ":agent", "/usr/bin/:agent"]],
    ["another program has its path as argument", [":other", "/usr/bin/:agent"]],
  ])("fails where %s alone", async (_, args) => {
    await start(args.map(path));
    expect(asked()).toBe(1);
  });

  test("fails next to another question of the same kind", async () => {
    const text = `import runpy, sys; sys.argv = sys.argv[1:]
import os; listed = os.listdir
def wait(folder): print('up', flush=True); sys.stdin.read(); return listed(folder)
os.listdir = wait; runpy.run_path(sys.argv[0], run_name='__main__')`;
    await start(["-IS", "-c", text, probe, "runs", name]);
    expect(asked()).toBe(1);
  });

  function path(word: string): string {
    if (word.includes(":agent")) return word.replace(":agent", name);
    return word.startsWith(":") ? join(dir, word === ":name" ? name : word.slice(1)) : word;
  }
});
