/** The packages as a user gets them: packed, checked, installed into an empty folder, and run there. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packAll, type Packed } from "../../scripts/pack/pack.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "causeway-packages-"));
const packed: readonly Packed[] = packAll(root, join(folder, "tarballs"));
const app = join(folder, "app");
/** Milliseconds that a cloud or an API server may take on an idle machine, where about one second is the goal. */
const START_LIMIT = 1_500;
/** Only the Node that runs this test, and the system's programs. */
const PATH = `${resolve(process.execPath, "..")}:/usr/bin:/bin`;

beforeAll(() => {
  mkdirSync(app);
  const dependencies = Object.fromEntries(packed.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`]));
  writeFileSync(join(app, "package.json"), JSON.stringify({ type: "module", private: true, dependencies }));
  const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--omit=optional", "--ignore-scripts"];
  execFileSync("npm", args, { cwd: app, stdio: ["ignore", "ignore", "inherit"] });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function causeway(args: readonly string[], path = PATH) {
  const result = spawnSync(join(app, "node_modules/.bin/causeway"), args, {
    cwd: app,
    encoding: "utf8",
    env: { PATH: path, HOME: folder },
  });
  return { status: result.status, out: result.stdout, error: result.stderr };
}

/** Runs a command that serves until it is stopped; resolves with what `use` returns once it has printed `ready`. */
async function whileServing<T>(args: readonly string[], ready: RegExp, use: (output: string) => T): Promise<T> {
  const child = spawn(join(app, "node_modules/.bin/causeway"), args, {
    cwd: app,
    env: { PATH, HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((done) => child.on("close", done));
  try {
    const output = await new Promise<string>((done, reject) => {
      let text = "";
      const take = (chunk: Buffer) => {
        text += chunk.toString();
        if (ready.test(text)) done(text);
      };
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      child.on("close", (code) => reject(new Error(`it ended with ${code}: ${text}`)));
    });
    return use(output);
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

/** Runs a module of the user's in the folder, and returns what it prints. */
function script(name: string, source: string, env: NodeJS.ProcessEnv = {}): string {
  writeFileSync(join(app, name), source);
  return execFileSync(process.execPath, [name], { cwd: app, encoding: "utf8", env: { PATH, HOME: folder, ...env } });
}

describe.each(packed.map((one) => [one.manifest.name, one] as const))("%s", (_, { dir, manifest, tarball }) => {
  test("passes the rules of publint", async () => {
    const { messages } = await publint({ pkgDir: dir, strict: true });
    expect(messages).toEqual([]);
  });

  test("has types that resolve as its modules do", async () => {
    const data = new Uint8Array(readFileSync(tarball));
    const result = await checkPackage(createPackageFromTarballData(data), {
      entrypoints: Object.keys(manifest.exports).filter((entry) => entry !== "./package.json"),
    });
    expect(result.types).not.toBe(false);
    // Packages of ES modules only: what CommonJS and resolution without `exports` make of them does not count.
    const problems = "problems" in result ? result.problems : [];
    const counted = problems.filter(
      (problem) => !("resolutionKind" in problem) || /node16-esm|bundler/.test(problem.resolutionKind),
    );
    expect(counted).toEqual([]);
  });

  test("has compiled modules, licence and engines, and no sources or tests", () => {
    const files = execFileSync("tar", ["tzf", tarball], { encoding: "utf8" }).trim().split("\n");
    expect(files).toContain("package/LICENSE");
    expect(files).toContain("package/README.md");
    expect(files.filter((file) => /(?<!\.d)\.ts$|\.test\.|\/testing\//.test(file))).toEqual([]);
    expect(manifest.engines).toEqual({ node: ">=26" });
  });
});

describe("installed into an empty folder", () => {
  test("`causeway version` reports the commit that was packed", () => {
    const head = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
    const { status, out } = causeway(["version", "-o", "json"]);
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ version: "0.1.0", commit: head, kubernetes: ["v1.34"] });
  });

  test("`causeway cloud` serves a cloud that the SDK reads", async () => {
    const sdk = `
      import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
      const cloud = connectCloud(loadCloudsYaml({ cloud: "simulator" }));
      console.log((await cloud.compute.flavors.all()).map((flavor) => flavor.name).join(" "));
      await cloud.close();
    `;
    const flavors = await whileServing(["cloud", "--state", join(folder, "cloud")], /Press Ctrl-C/, () =>
      script("sdk.mjs", sdk, { OS_CLIENT_CONFIG_FILE: join(folder, "cloud/clouds.yaml") }),
    );
    expect(flavors.split(" ")).toContain("m1.small");
  });

  test("`causeway apiserver` serves an API that the Kubernetes client reads", async () => {
    const client = `
      import { createClient, loadKubeconfig } from "@causeway/kubernetes";
      const client = createClient(loadKubeconfig({ path: process.env.FILE }));
      console.log((await client.request("GET", "/version")).gitVersion);
      await client.close();
    `;
    const state = join(folder, "kubernetes");
    const version = await whileServing(["apiserver", "--state", state], /Press Ctrl-C/, () =>
      script("client.mjs", client, { FILE: join(state, "admin.kubeconfig") }),
    );
    expect(version.trim()).toBe("v1.34.0");
  });

  test.each([
    ["cloud", "clouds.yaml"],
    ["apiserver", "admin.kubeconfig"],
  ])("`causeway %s` prints its address and has %s soon after its start", async (command, file) => {
    const [starts, versions]: [number[], number[]] = [[], []];
    // The fastest of three, against the fastest start of the command itself at the same time: the machine may be busy.
    for (let turn = 0; turn < 3; turn++) {
      const begun = performance.now();
      expect(causeway(["version"]).status).toBe(0);
      versions.push(performance.now() - begun);
      const state = join(folder, `start-${command}-${turn}`);
      const started = performance.now();
      await whileServing([command, "--state", state], /https?:\/\/[^]*Press Ctrl-C/, () => {
        starts.push(performance.now() - started);
        expect(existsSync(join(state, file))).toBe(true);
      });
    }
    const [start, version] = [Math.min(...starts), Math.min(...versions)];
    expect(start, `starts: ${starts.join(" ")}; versions: ${versions.join(" ")}`).toBeLessThan(
      START_LIMIT + 2 * version,
    );
  });

  test("a user's TypeScript compiles against the declarations", () => {
    writeFileSync(
      join(app, "user.ts"),
      `import { connectCloud, loadCloudsYaml } from "@causeway/openstack";
       import { startSimulator } from "@causeway/simulator";
       export const simulator: Promise<{ readonly authUrl: string }> = startSimulator({});
       export async function names(): Promise<string[]> {
         const cloud = connectCloud(loadCloudsYaml({ cloud: "x" }));
         return (await cloud.compute.servers.all()).map((server) => server.name);
       }
       // @ts-expect-error a flavor is not a number
       export const wrong: number = connectCloud(loadCloudsYaml({ cloud: "x" })).compute.flavors;`,
    );
    const compiler = {
      compilerOptions: { strict: true, noEmit: true, module: "nodenext", target: "esnext", types: ["node"] },
      files: ["user.ts"],
    };
    const types = join(root, "node_modules/@types");
    const options = { ...compiler.compilerOptions, typeRoots: [types], skipLibCheck: true };
    writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ ...compiler, compilerOptions: options }));
    const { stdout, status } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", app], { encoding: "utf8" });
    expect(stdout).toBe("");
    expect(status).toBe(0);
  });

  test("with an old Node says in one sentence which one is needed", () => {
    const old = join(folder, "old");
    mkdirSync(old);
    writeFileSync(join(old, "node"), "#!/bin/sh\necho 20.20.2\n");
    chmodSync(join(old, "node"), 0o755);
    const { status, error } = causeway(["version"], `${old}:/usr/bin:/bin`);
    expect(status).toBe(1);
    expect(error.trim().split("\n")).toHaveLength(1);
    expect(error).toContain("needs Node 26 or later, but PATH has Node 20.20.2");
  });
});
