/** The examples of examples/testcontainers on the built image, with podman's service as the engine. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildImage } from "../../scripts/image/build.ts";

const root = resolve(import.meta.dirname, "../..");
const has = (program: string) => spawnSync(program, ["--version"]).error === undefined;
const missing = ["podman", "runc", "netavark"].filter(
  (program) => !has(program) && !existsSync(`/usr/lib/podman/${program}`),
);
const folder = mkdtempSync(join(tmpdir(), "causeway-engine-"));
const socket = join(folder, "podman.sock");
/** Without limits of cgroups, which not every machine that runs this has; ports of containers are on loopback. */
const CONTAINERS_CONF = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[network]
network_backend = "netavark"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
`;
const env = {
  ...process.env,
  CONTAINERS_CONF: join(folder, "containers.conf"),
  DOCKER_HOST: `unix://${socket}`,
  // Its helper container would be pulled from a registry.
  TESTCONTAINERS_RYUK_DISABLED: "true",
};
const store = [
  "--root",
  join(folder, "root"),
  "--runroot",
  join(folder, "run"),
  "--network-config-dir",
  join(folder, "net"),
];
let service: ChildProcess | undefined;
let image = "";

function podman(...args: string[]): string {
  return execFileSync("podman", [...store, "--log-level", "error", ...args], { env, encoding: "utf8" });
}

function example(name: string, ...command: readonly [string, ...string[]][]): void {
  const copy = join(folder, name);
  cpSync(join(root, "examples/testcontainers", name), copy, { recursive: true });
  for (const [program, ...args] of command) {
    const ran = spawnSync(program, args, { cwd: copy, env: { ...env, CAUSEWAY_IMAGE: image }, encoding: "utf8" });
    expect(ran.status, `${program} ${args.join(" ")}\n${ran.stdout}\n${ran.stderr}`).toBe(0);
  }
}

describe.skipIf(missing.length > 0)(`the examples with Testcontainers (need podman, runc and netavark)`, () => {
  beforeAll(async () => {
    writeFileSync(env.CONTAINERS_CONF, CONTAINERS_CONF);
    const { layout } = buildImage(root, join(folder, "image"));
    execFileSync("tar", ["-C", layout, "-cf", join(folder, "image.tar"), "."]);
    image = /Loaded image: (\S+)/.exec(podman("load", "-i", join(folder, "image.tar")))?.[1] ?? "";
    service = spawn("podman", [...store, "system", "service", "--time", "0", `unix://${socket}`], { env });
    for (let i = 0; i < 100 && !existsSync(socket); i += 1) await pause(100);
  });

  afterAll(async () => {
    podman("rm", "--all", "--force");
    const ended = service && once(service, "exit");
    service?.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });

  test("the image has the project's name and version", () => {
    expect(image).toMatch(/causeway:\d+\.\d+\.\d+$/);
  });

  test("TypeScript", () => {
    example("typescript", ["npm", "ci", "--ignore-scripts", "--no-audit"], ["npm", "test"]);
  });

  test("Python", () => {
    example(
      "python",
      ["python3", "-m", "venv", "venv"],
      ["venv/bin/pip", "install", "-q", "-r", "requirements.txt"],
      ["venv/bin/pytest", "-q"],
    );
  });

  test.skipIf(!has("go") && spawnSync("go", ["version"]).status !== 0)("Go", () => {
    example("go", ["go", "test", "./..."]);
  });
});
