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
