import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, systemClock } from "@causeway/foundation";
import { afterEach, expect, test } from "vitest";
import { Child, endLeftover, pidFileOf } from "./child.ts";
import { isAlive, readIdentity } from "./process-identity.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

test.runIf(process.platform === "linux")(
  "a program that was started before its pid file was written is ended by its mark",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "child-"));
    closing.push(() => rmSync(dir, { recursive: true }));
    const started = Promise.withResolvers<void>();
    const using = { dir, clock: systemClock, log: silentLog, changed: () => started.resolve() };
    const sleep = (name: string) => new Child({ name, program: "sleep", args: ["600"], grace: 1_000 }, using);
    const [lost, other] = [sleep("etcd"), sleep("kube-apiserver")];
    lost.start();
    await started.promise;
    const identity = readIdentity(pidFileOf(dir, "etcd"));
    other.start();
    closing.push(() => Promise.all([lost.stop(), other.stop()]));
    // As if it had been killed between the start and the file.
    rmSync(pidFileOf(dir, "etcd"));

    const ended = await endLeftover(dir, "etcd", systemClock);
    expect(ended).toEqual(identity);
    expect(identity !== undefined && isAlive(identity)).toBe(false);
    const kept = readIdentity(pidFileOf(dir, "kube-apiserver"));
    expect(kept !== undefined && isAlive(kept)).toBe(true);
    expect(readFileSync(join(dir, "mark"), "utf8")).toMatch(/^[0-9a-f-]{36}$/);
  },
);

/** A file that each write finds on a full disk. */
const FULL = "/dev/full";

test.runIf(process.platform === "linux")(
  "a program whose pid file finds the disk full runs once, and ends with its control plane",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "child-"));
    closing.push(() => rmSync(dir, { recursive: true }));
    symlinkSync(FULL, pidFileOf(dir, "etcd"));
    const started = Promise.withResolvers<void>();
    const using = { dir, clock: systemClock, log: silentLog, changed: () => started.resolve() };
    const child = new Child({ name: "etcd", program: "sleep", args: ["600"], grace: 1_000 }, using);
    child.start();
    await started.promise;
    await child.stop();
    // What it would be read from has no end.
    rmSync(pidFileOf(dir, "etcd"), { force: true });
    expect(await endLeftover(dir, "etcd", systemClock)).toBeUndefined();
  },
);

test("the mark of a folder that a full disk left empty is written again, and is no other folder's", async () => {
  const parent = mkdtempSync(join(tmpdir(), "child-"));
  closing.push(() => rmSync(parent, { recursive: true }));
  const marks = [];
  for (const name of ["a", "b"]) {
    const dir = join(parent, name);
    mkdirSync(dir);
    writeFileSync(join(dir, "mark"), "");
    await endLeftover(dir, "etcd", systemClock);
    marks.push(readFileSync(join(dir, "mark"), "utf8"));
  }
  expect(marks).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  expect(marks[0]).not.toBe(marks[1]);
});

test.each([
  ["whole", 0],
  ["cut off by a full disk", 100],
])("the problem of a program that writes JSON has message and error of a line that is %s", async (_, cut) => {
  const dir = mkdtempSync(join(tmpdir(), "child-"));
  closing.push(() => rmSync(dir, { recursive: true }));
  const stack = "go.etcd.io/bbolt.(*Tx).Commit ".repeat(100);
  const error = "write db: no space left on device";
  const fatal = JSON.stringify({ level: "fatal", msg: 'cannot save "db"', error, stacktrace: stack });
  const last = JSON.stringify({ level: "warn", msg: "closing" });
  writeFileSync(join(dir, "lines"), `${last}\n${fatal.slice(0, fatal.length - cut)}${cut === 0 ? `\n${last}\n` : ""}`);
  const twice = Promise.withResolvers<string>();
  const changed = (): void => {
    if (child.problem !== undefined) twice.resolve(child.problem);
  };
  const args = ["-c", `cat ${join(dir, "lines")}; exit 1`];
  const using = { dir, clock: systemClock, log: silentLog, changed };
  const child = new Child({ name: "etcd", program: "sh", args, grace: 1_000 }, using);
  closing.push(() => child.stop());
  child.start();
  expect(await twice.promise).toBe(
    'etcd ended 2 times in a row: exit status 1: cannot save "db": write db: no space left on device',
  );
});
