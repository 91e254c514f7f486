import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, test } from "vitest";

const launch = resolve(import.meta.dirname, "launch.sh");
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder with a `node` that reports this version, and that prints what it is called with otherwise. */
function nodeOf(version: string): string {
  const folder = mkdtempSync(join(tmpdir(), "launch-"));
  folders.push(folder);
  const file = join(folder, "node");
  writeFileSync(file, `#!/bin/sh\n[ "$1" = -p ] && echo ${version} || echo "node ${version} runs $*"\n`);
  chmodSync(file, 0o755);
  return folder;
}

/** The launcher as it is where nothing is installed next to it. */
function withoutInstall(): string {
  const folder = mkdtempSync(join(tmpdir(), "launch-"));
  folders.push(folder);
  mkdirSync(join(folder, "packages/causeway/src"), { recursive: true });
  const file = join(folder, "packages/causeway/src/launch.sh");
  copyFileSync(launch, file);
  return file;
}

function run(file: string, path: string, ...args: string[]) {
  return runWith({}, file, path, ...args);
}

function runWith(env: NodeJS.ProcessEnv, file: string, path: string, ...args: string[]) {
  const result = spawnSync("/bin/sh", [file, ...args], {
    encoding: "utf8",
    env: { PATH: `${path}:/usr/bin:/bin`, ...env },
    timeout: 60_000,
    killSignal: "SIGKILL",
  });
  return { code: result.status, out: result.stdout, error: result.stderr };
}

describe("the causeway command", () => {
  test.each(["cloud", "up", "run", "doctor", "apiserver"])(
    "runs `%s` on the Node of the install though PATH has an old one",
    (command) => {
      const { code, out } = run(launch, nodeOf("20.20.2"), command, "--help");
      expect(out).toContain(`causeway ${command}`);
      expect(code).toBe(0);
    },
  );

  test("without an install, runs on a Node of PATH that is new enough", () => {
    expect(run(withoutInstall(), nodeOf("26.1.0"), "up").out).toMatch(/^node 26\.1\.0 runs .*start\.js up$/m);
  });

  test("starts `run` small, optimizing only what runs very often; what keeps a thousand machines collects less", () => {
    const out = (...args: string[]): string => run(withoutInstall(), nodeOf("26.1.0"), ...args).out;
    const hot = "--no-maglev --invocation-count-for-turbofan=100000 --invocation-count-for-osr=20000";
    const small = `--max-semi-space-size=1 --optimize-for-size ${hot} --no-concurrent-sparkplug`;
    const large = `--max-semi-space-size=4 --heap-growing-percent=40 ${hot} --no-concurrent-sparkplug`;
    for (const each of ["", "cloud-controller-manager"]) expect(out("run", each)).toContain(`runs ${small} `);
    for (const each of ["cluster-api", "cluster-api-openstack"]) expect(out("run", each)).toContain(`runs ${large} `);
    for (const [each, flags] of [
      [["cinder-csi", "cluster-api --install-crds"], large],
      [["cluster-api-openstack --install-crds", "cinder-csi"], large],
      [["cloud-controller-manager --cluster-name=my-cluster-api", "cinder-csi"], small],
    ] as const)
      expect(out("run", "several", ...each)).toContain(`runs ${flags} `);
    expect(out("up")).not.toContain("--no-maglev");
  });

  test("starts what carries connections without threads that collect, and all without threads that compile", () => {
    const out = (...args: string[]): string => run(withoutInstall(), nodeOf("26.1.0"), ...args).out;
    for (const each of ["tunnel-server", "tunnel-agent", "api-gateway", "api-proxy"])
      expect(out("run", each)).toContain(
        "runs --max-semi-space-size=1 --single-threaded-gc --optimize-for-size --no-opt --no-concurrent-sparkplug ",
      );
    for (const each of ["tunnel-server", "tunnel-agent"])
      expect(out("run", each)).toContain(" --no-incremental-marking --initial-old-space-size=16 ");
    expect(out("run", "api-gateway")).not.toContain("--no-incremental-marking");
    expect(out("up")).toContain(
      "runs --max-semi-space-size=64 --no-concurrent-sparkplug --max-old-space-size-percentage=40 ",
    );
    expect(out("cloud")).toContain("runs --max-semi-space-size=4 --no-concurrent-sparkplug ");
  });

  test.each(["--max-old-space-size=500", "--trace-gc --max_heap_size=500"])(
    "leaves the heap of `up` to NODE_OPTIONS=%s",
    (NODE_OPTIONS) => {
      const { out } = runWith({ NODE_OPTIONS }, withoutInstall(), nodeOf("26.1.0"), "up");
      expect(out).toContain("runs --max-semi-space-size=64 --no-concurrent-sparkplug ");
      expect(out).not.toContain("percentage");
    },
  );

  test("called without its launcher by an old Node, says so in one sentence, too", () => {
    const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });`;
    const start = resolve(import.meta.dirname, "start.js");
    const played = `data:text/javascript,${encodeURIComponent(old)}`;
    const { status, stderr } = spawnSync(process.execPath, ["--import", played, start, "run"], { encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr).toMatch(/needs Node 26 or later.*Node 20\.20\.2.*npm ci/);
  });

  test("without an install, says in one sentence what is needed where PATH has an old Node", () => {
    const { code, error } = run(withoutInstall(), nodeOf("20.20.2"), "up");
    expect(code).toBe(1);
    expect(error.trim().split("\n")).toHaveLength(1);
    expect(error).toContain("needs Node 26 or later");
    expect(error).toContain("Node 20.20.2");
    expect(error).toContain("npm ci");
  });
});
