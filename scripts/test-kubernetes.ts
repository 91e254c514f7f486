/**
 * `npm run test:kubernetes`: one contract suite on a real kube-apiserver with etcd, and on ours. Builds the real ones with Go at
 * first, from the versions in tools/kubernetes/go.mod, into the user's cache directory; later runs start from there.
 * CAUSEWAY_KUBERNETES_BINARIES names a folder that has them already. Arguments go to the test runner.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const tools = join(root, "tools/kubernetes");
const BINARIES = "CAUSEWAY_KUBERNETES_BINARIES";

interface Program {
  readonly name: string;
  readonly source: string;
  readonly flags: string;
}

function run(file: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<number> {
  return new Promise((done, reject) => {
    const child = spawn(file, args, { stdio: "inherit", ...options });
    child.on("error", reject);
    child.on("close", (code) => done(code ?? 1));
  });
}

function pinnedVersion(): string {
  const found = /^\s*k8s\.io\/kubernetes (v\S+)/m.exec(readFileSync(join(tools, "go.mod"), "utf8"));
  if (!found?.[1])
    throw new Error("tools/kubernetes/go.mod names no k8s.io/kubernetes; write it with tools/kubernetes/pin");
  return found[1];
}

function programsOf(version: string): Program[] {
  const [major = "", minor = ""] = version.slice(1).split(".");
  const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const flags = Object.entries(stamp).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return [
    { name: "etcd", source: "go.etcd.io/etcd/server/v3", flags: "-s -w" },
    { name: "kube-apiserver", source: "k8s.io/kubernetes/cmd/kube-apiserver", flags: `-s -w ${flags.join(" ")}` },
  ];
}

/** The folder with both programs, built if need be; or why there is none. */
async function binaries(): Promise<{ dir: string } | { reason: string }> {
  const version = pinnedVersion();
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const dir = join(cache, "causeway/kubernetes", version);
  const missing = programsOf(version).filter((p) => !existsSync(join(dir, p.name)));
  if (missing.length > 0 && spawnSync("go", ["version"]).status !== 0) {
    return { reason: "it is built with Go, and there is no go on PATH" };
  }
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  for (const program of missing) {
    console.log(`building ${program.name} of ${version}, once, into ${dir}`);
    const code = await build(program, join(dir, program.name));
    if (code !== 0) return { reason: `go build of ${program.source} ended with ${code}` };
  }
  return { dir };
}

async function build({ source, flags }: Program, file: string): Promise<number> {
  const half = `${file}.${process.pid}`;
  const args = ["build", "-trimpath", "-ldflags", flags, "-o", half, source];
  const code = await run("go", args, { cwd: tools, env: { ...process.env, CGO_ENABLED: "0" } });
  if (code === 0) renameSync(half, file);
  return code;
}

async function main(): Promise<number> {
  const env = { ...process.env };
  let files: string[] = [];
  if (env[BINARIES] === undefined) {
    const made = await binaries();
    if ("dir" in made) env[BINARIES] = made.dir;
    else {
      console.log(`skipped: no real kube-apiserver here: ${made.reason}. The suite runs on ours alone.`);
      files = ["causeway.test.ts"];
    }
  }
  const args = ["run", "--config", "vitest.kubernetes.config.ts", ...files, ...process.argv.slice(2)];
  return run(resolve(root, "node_modules/.bin/vitest"), args, { cwd: root, env });
}

process.exitCode = await main();
