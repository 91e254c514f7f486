import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKeyPairSync } from "node:crypto";
import type { ExternalAuthenticators } from "@causeway/apiserver";
import { CausewayError, createAuthority, silentLog, systemClock, type KeyPair } from "@causeway/foundation";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { RestoreSpec } from "../backup-spec.ts";
import type { Backups } from "../backup/backups.ts";
import type { Keyspace } from "../backup/datastore.ts";
import type { Point } from "../backup/points.ts";
import { createRuntimes } from "../runtimes.ts";
import type { ControlPlaneSpec, ControlPlaneState, TokenIssuers } from "../runtime.ts";
import { installPrograms } from "../testing/programs.ts";
import { identityOf, readIdentity } from "./process-identity.ts";
import { createProcessRuntime, type ProcessRuntime } from "./process-runtime.ts";
import { commonSpec } from "../testing/common-spec.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const signal = new AbortController().signal;
let authority: KeyPair;
let serviceAccountKey: string;
beforeAll(async () => {
  authority = await createAuthority({ commonName: "kubernetes", lifetime: 3600_000 });
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  serviceAccountKey = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
});

let dir: string;
let runtimes: ProcessRuntime[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "process-runtime-"));
  for (const version of ["v1.34.4", "v1.34.5"]) installPrograms(join(dir, "programs"), version);
});
afterEach(async () => {
  await Promise.all(runtimes.map((runtime) => runtime.stop()));
  runtimes = [];
  rmSync(dir, { recursive: true, force: true });
});

function start(backups?: Backups, authenticators?: ExternalAuthenticators): ProcessRuntime {
  const programs = join(dir, "programs");
  const tools = { clock: systemClock, log: silentLog, ...(authenticators ? { authenticators } : {}) };
  const runtime = createProcessRuntime({
    dir: join(dir, "state"),
    programs,
    backups,
    issuerNetworks: ["192.0.2.0/24"],
    auditNetworks: ["192.0.2.0/24"],
    ...tools,
  });
  runtimes.push(runtime);
  return runtime;
}

/** Nothing was backed up. */
function noBackups(): Backups {
  const none = () => Promise.reject(new Error("not expected"));
  return { points: async () => [], take: none, delete: none, sweep: none, secrets: none, restore: none };
}

const specOf = (changes: Partial<ControlPlaneSpec> = {}): ControlPlaneSpec => ({
  ...commonSpec,
  version: "v1.34.4",
  authority,
  serviceAccountKey,
  endpoint: { host: "127.0.0.1", port: 0 },
  replicas: 1,
  ...changes,
});

async function until<T>(what: string, check: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (let i = 0; i < 1_000; i++) {
    const found = await check();
    if (found !== undefined) return found;
    await systemClock.sleep(50);
  }
  throw new Error(`did not happen: ${what}`);
}

const ready = (runtime: ProcessRuntime): Promise<ControlPlaneState> =>
  until("ready", async () => {
    const state = await runtime.observe("default.web", signal);
    return state?.ready === true ? state : undefined;
  });

const pidOf = (name: string): number | undefined =>
  readIdentity(join(dir, "state/default.web/run", `${name}.pid`))?.pid;
const logged = (file: string, version = "v1.34.4"): string[] => {
  const path = join(dir, "programs", version, file);
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
};

function served({ endpoint }: ControlPlaneState): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ ...endpoint, path: "/readyz", ca: authority.certificate, servername: "kubernetes" }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve(text));
    }).on("error", reject);
  });
}

const all = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

describe("a control plane as processes", () => {
  test("becomes ready, is started in order and ended in the reverse order, and keeps its port", async () => {
    const runtime = start();
    const changes: string[] = [];
    runtime.onChange((id) => changes.push(id));
    expect(await runtime.ensure(specOf(), signal)).toMatchObject({ ready: false, starting: true });
    const state = await ready(runtime);
    expect(await served(state)).toBe("v1.34.4");
    expect(changes).toContain("default.web");
    await until("controllers", () => (logged("starts").length === 4 ? true : undefined));
    expect(logged("starts").slice(0, 2).toSorted()).toEqual(["etcd", "kube-apiserver"]);
    await until("running", () => (all.every((name) => pidOf(name) !== undefined) ? true : undefined));
    await systemClock.sleep(300);
    await runtime.stop();
    expect(logged("ends").slice(2)).toEqual(["kube-apiserver", "etcd"]);
    expect(all.map(pidOf)).toEqual([undefined, undefined, undefined, undefined]);
    const again = start();
    expect(await again.observe("default.web", signal)).toMatchObject({ ready: false });
    await again.ensure(specOf(), signal);
    expect((await ready(again)).endpoint).toEqual(state.endpoint);
  });

  test("is left alone by a request for the same again", async () => {
    const runtime = start();
    await runtime.ensure(specOf(), signal);
    await ready(runtime);
    const before = pidOf("kube-apiserver");
    await runtime.ensure(specOf(), signal);
    expect(pidOf("kube-apiserver")).toBe(before);
    expect(await runtime.observe("default.web", signal)).toMatchObject({ ready: true });
  });

  test.for(all)("restarts %s after kill -9", async (name) => {
    const runtime = start();
    await runtime.ensure(specOf(), signal);
    await ready(runtime);
    const pid = await until("running", () => pidOf(name));
    process.kill(pid, "SIGKILL");
    await until("restarted", () => (pidOf(name) !== undefined && pidOf(name) !== pid ? true : undefined));
    await ready(runtime);
  });

  test("that cannot start is started less and less often, and says why", async () => {
    const crash = join(dir, "programs/v1.34.4/etcd.crash");
    writeFileSync(crash, "");
    const runtime = start();
    await runtime.ensure(specOf(), signal);
    const state = await until("reported", async () => {
      const now = await runtime.observe("default.web", signal);
      return now?.message?.includes("PROCESS_CRASHING") ? now : undefined;
    });
    expect(state.message).toMatch(
      /^etcd ended \d+ times in a row: exit status 1: Error: the disk is full; logs are in /,
    );
    await systemClock.sleep(3_000);
    expect(logged("starts").filter((name) => name === "etcd").length).toBeLessThan(6);
    rmSync(crash);
    await until("running", () => pidOf("etcd"));
  });

  test("is upgraded in order, and refuses a version that is not installed while the old one serves on", async () => {
    const runtime = start();
    await runtime.ensure(specOf(), signal);
    const before = await ready(runtime);
    await until("controllers", () => pidOf("kube-scheduler"));
    await systemClock.sleep(300);
    await expect(runtime.ensure(specOf({ version: "v1.34.9" }), signal)).rejects.toMatchObject({
      code: "PROCESS_VERSION_NOT_INSTALLED",
      message: expect.stringContaining("installed: v1.34.4, v1.34.5") as string,
    });
    expect(await served(before)).toBe("v1.34.4");
    await runtime.ensure(specOf({ version: "v1.34.5" }), signal);
    const state = await ready(runtime);
    expect(state).toMatchObject({ version: "v1.34.5", endpoint: before.endpoint });
    expect(await served(state)).toBe("v1.34.5");
    expect(logged("ends").slice(2)).toEqual(["kube-apiserver", "etcd"]);
  });

  test("runs its programs with a tenant's flags, and restarts those that a change concerns", async () => {
    const runtime = start();
    const commandLine = (name: string) => readFileSync(`/proc/${pidOf(name)}/cmdline`, "utf8").split("\0");
    await runtime.ensure(specOf(), signal);
    await ready(runtime);
    await until("controllers", () => pidOf("kube-controller-manager"));
    const [etcd, api] = [pidOf("etcd"), pidOf("kube-apiserver")];
    const flags = {
      apiServer: { enableAdmissionPlugins: ["PodNodeSelector"] },
      controllerManager: { nodeMonitorGracePeriodSeconds: 30 },
    };
    expect(await runtime.observe("default.web", signal)).not.toHaveProperty("flags");
    await runtime.ensure(specOf({ flags }), signal);
    expect(await ready(runtime)).toMatchObject({ flags });
    await until("controllers", () => pidOf("kube-controller-manager"));
    expect([pidOf("etcd") === etcd, pidOf("kube-apiserver") === api]).toEqual([true, false]);
    const plugins = commandLine("kube-apiserver").filter((arg) => arg.startsWith("--enable-admission-plugins"));
    expect(plugins).toEqual(["--enable-admission-plugins=NodeRestriction,PodNodeSelector"]);
    expect(commandLine("kube-controller-manager")).toContain("--node-monitor-grace-period=30s");
    // A sink of audit events, and another token of it, start kube-apiserver again, too.
    for (const token of ["first", "second"]) {
      const before = pidOf("kube-apiserver");
      const audit = { url: "https://192.0.2.9/events", tokenSecret: "sink", token };
      await runtime.ensure(specOf({ flags, audit }), signal);
      expect(await ready(runtime)).toMatchObject({ flags, audit });
      expect([pidOf("etcd") === etcd, pidOf("kube-apiserver") === before]).toEqual([true, false]);
      const file = join(dir, "state/default.web/audit-sink.json");
      expect(readFileSync(file, "utf8")).toMatch(/"proxy-url": "http:\/\/kube-apiserver:[^"]+@127.0.0.1:\d+"/);
      expect([readFileSync(file, "utf8").includes(token), statSync(file).mode & 0o777]).toEqual([true, 0o600]);
      expect(commandLine("kube-apiserver")).toContain(`--audit-webhook-config-file=${file}`);
    }
    await runtime.ensure(specOf({ flags }), signal);
    expect(existsSync(join(dir, "state/default.web/audit-sink.json"))).toBe(false);
  });

  test("is restored before its first API server starts, once, with the key of its backup, whatever fails and ends", async () => {
    const attempts: Keyspace[] = [];
    let restoring: "fails" | "hangs" | "succeeds" = "fails";
    const backups = {
      ...noBackups(),
      secrets: async () => ({ encryption: "of the backup" }),
      async restore(_: RestoreSpec, keyspace: Keyspace, stop: AbortSignal) {
        attempts.push(keyspace);
        if (restoring === "hangs") await new Promise((_done, failed) => stop.addEventListener("abort", failed));
        if (restoring === "fails") throw new CausewayError("BACKUP_STORE_UNREACHABLE", "the store is away");
        // A real one writes to etcd: it is not done before that started again.
        if (restoring === "succeeds") await until("etcd again", () => logged("starts").length > 1 || undefined);
      },
    };
    const spec = specOf({ restore: { folder: "default/old/1" } });
    await expect(start().ensure(spec, signal)).rejects.toMatchObject({ code: "BACKUPS_NOT_OFFERED" });
    expect(existsSync(join(dir, "state/default.web"))).toBe(false);
    const first = start(backups);
    await first.ensure(spec, signal);
    await until("reported", async () => {
      const { message = "" } = (await first.observe("default.web", signal)) ?? {};
      return message.includes("BACKUP_STORE_UNREACHABLE") ? message : undefined;
    });
    await until("etcd and more attempts", () => (logged("starts").length > 0 && attempts.length > 1) || undefined);
    expect(logged("starts")).toEqual(["etcd"]);
    restoring = "hangs";
    const known = attempts.length;
    await until("next attempt", () => attempts[known]);
    // As good as killed: nothing says that it was done.
    await first.stop();
    restoring = "succeeds";
    const second = start(backups);
    await second.ensure(spec, signal);
    await ready(second);
    expect(readFileSync(join(dir, "state/default.web/encryption.json"), "utf8")).toBe("of the backup");
    expect(logged("starts").slice(0, 3)).toEqual(["etcd", "etcd", "kube-apiserver"]);
    const { access, prefix } = attempts.at(-1) as Keyspace;
    expect([access.addresses, access.serverName, prefix]).toEqual([["127.0.0.1"], "localhost", "/"]);
    const done = attempts.length;
    await second.stop();
    const third = start(backups);
    await third.ensure(spec, signal);
    await ready(third);
    expect(attempts).toHaveLength(done);
  });

  test("is backed up by its schedule when it serves, with its own key, and no more when that is switched off", async () => {
    const taken: Parameters<Backups["take"]>[0][] = [];
    let points: Point[] = [];
    const backups = {
      ...noBackups(),
      points: async () => points,
      async take(spec: Parameters<Backups["take"]>[0]) {
        taken.push(spec);
        const point = { id: "0123456789abcdef", full: "0123456789abcdef", time: Date.now() };
        points = [point];
        return point;
      },
    };
    const runtime = start(backups);
    const backup = { folder: "default/web/1", fullEvery: 3600_000, changesEvery: 3600_000, keep: 3600_000 };
    await runtime.ensure(specOf({ backup }), signal);
    const state = await until("backed up", async () => {
      const found = await runtime.observe("default.web", signal);
      return found?.backup?.points === 1 ? found : undefined;
    });
    expect(state).toMatchObject({ ready: true, schedule: backup, backup: { folder: backup.folder } });
    const key = readFileSync(join(dir, "state/default.web/encryption.json"), "utf8");
    expect(taken).toMatchObject([{ folder: backup.folder, keyspace: { prefix: "/" }, secrets: { encryption: key } }]);
    await runtime.ensure(specOf(), signal);
    await until("off", async () => {
      const found = await runtime.observe("default.web", signal);
      return found?.backup === undefined && found?.schedule === undefined ? found : undefined;
    });
    expect(taken).toHaveLength(1);
  });

  test("has another issuer of tokens in the same file, which kube-apiserver reads again: no program is started again", async () => {
    const runtime = start();
    const issuer = (url: string): TokenIssuers[number] => ({
      issuer: { url, audiences: ["web"] },
      claimMappings: { username: { claim: "sub", prefix: "oidc:" } },
    });
    const believing = (...jwt: TokenIssuers) => specOf({ authentication: { jwt } });
    const file = join(dir, "state/default.web/authentication-v1.json");
    const urls = () =>
      (JSON.parse(readFileSync(file, "utf8")) as { jwt: TokenIssuers }).jwt.map((each) => each.issuer.url);
    await runtime.ensure(believing(issuer("https://192.0.2.1")), signal);
    expect(urls()).toEqual(["https://192.0.2.1"]);
    await ready(runtime);
    const pids = await until("running", () => {
      const found = all.map(pidOf);
      return found.includes(undefined) ? undefined : found;
    });
    await runtime.ensure(believing(issuer("https://192.0.2.1"), issuer("https://192.0.2.2")), signal);
    expect(urls()).toEqual(["https://192.0.2.1", "https://192.0.2.2"]);
    await expect(runtime.ensure(believing(issuer("https://10.0.0.1")), signal)).rejects.toMatchObject({
      code: "ISSUERS_NOT_PERMITTED",
    });
    expect(urls()).toEqual(["https://192.0.2.1", "https://192.0.2.2"]);
    await expect(
      runtime.ensure({ ...believing(issuer("https://192.0.2.1")), version: "v1.29.0" }, signal),
    ).rejects.toThrow("kube-apiserver v1.29.0 has no spec.authentication.jwt: it needs v1.30");
    await runtime.ensure(believing(), signal);
    expect(urls()).toEqual([]);
    expect(await ready(runtime)).toMatchObject({ authentication: { jwt: [] } });
    expect(all.map(pidOf)).toEqual(pids);
  });

  test("asks its authenticator at another port when a program has the one of before", async () => {
    const closed: string[] = [];
    const make = (name: string): ExternalAuthenticators => ({
      keystone: () => ({ verify: async () => undefined, close: () => closed.push(name) }),
    });
    const spec = specOf({ authentication: { external: { type: "keystone", settings: {} } } });
    const tokensPort = () =>
      (JSON.parse(readFileSync(join(dir, "state/default.web/ports.json"), "utf8")) as { tokens: number }).tokens;
    const first = start(undefined, make("first"));
    await first.ensure(spec, signal);
    await ready(first);
    const before = tokensPort();
    await first.stop();
    const stranger = createServer();
    await new Promise<void>((listening) => stranger.listen(before, "127.0.0.1", listening));
    try {
      const second = start(undefined, make("second"));
      await second.ensure(spec, signal);
      await ready(second);
      expect(tokensPort()).not.toBe(before);
      const kubeconfig = readFileSync(join(dir, "state/default.web/token-webhook.conf"), "utf8");
      expect(kubeconfig).toContain(`https://127.0.0.1:${tokensPort()}/`);
      expect(closed).toEqual(["first"]);
      await second.stop();
    } finally {
      await new Promise((done) => stranger.close(done));
    }
  });

  test("leaves nothing when it is removed", async () => {
    const runtime = start();
    await runtime.ensure(specOf(), signal);
    await ready(runtime);
    const pids = await until("running", () => {
      const found = all.map(pidOf);
      return found.includes(undefined) ? undefined : found;
    });
    await runtime.remove("default.web", signal);
    expect(pids.map((pid) => identityOf(pid ?? 0))).toEqual([undefined, undefined, undefined, undefined]);
    expect(existsSync(join(dir, "state/default.web"))).toBe(false);
    expect(await runtime.observe("default.web", signal)).toBeUndefined();
  });

  test("that its process left behind is ended at the next start, and no other process is", async () => {
    const runtime = start();
    await runtime.ensure(specOf(), signal);
    await ready(runtime);
    const pid = await until("running", () => pidOf("kube-apiserver"));
    const run = join(dir, "state/default.web/run");
    const left = readFileSync(join(run, "kube-apiserver.pid"), "utf8");
    await runtime.stop();
    // A program that survived us, and a number that another process has now.
    const orphan = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore", detached: true });
    const identity = await until("started", () => identityOf(orphan.pid ?? 0));
    writeFileSync(join(run, "etcd.pid"), JSON.stringify(identity));
    const stranger = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    const other = await until("started", () => identityOf(stranger.pid ?? 0));
    writeFileSync(join(run, "kube-scheduler.pid"), JSON.stringify({ ...JSON.parse(left), pid: other.pid }));
    expect(pid).toBeGreaterThan(1);
    const again = start();
    await again.ensure(specOf(), signal);
    expect(identityOf(identity.pid)).toBeUndefined();
    expect(identityOf(other.pid)).toEqual(other);
    stranger.kill("SIGKILL");
  });

  test.for<[string, Partial<ControlPlaneSpec>, string]>([
    ["Keystone", { authentication: { external: { type: "keystone", settings: {} } } }, "PROCESS_RUNTIME_UNSUPPORTED"],
    [
      "backups of an etcd that it joins",
      {
        backup: { folder: "a/b/c", fullEvery: 1, changesEvery: 1, keep: 1 },
        join: { stage: "Reserve", members: [], peerHost: "127.0.0.1" },
      },
      "PROCESS_RUNTIME_UNSUPPORTED",
    ],
    ["an access list", { allowedCidrs: ["192.0.2.0/24"] }, "RUNTIME_HAS_NO_ACCESS_LIST"],
    ["an audit sink outside", { audit: { url: "https://198.51.100.9" } }, "AUDIT_SINK_NOT_PERMITTED"],
    ["a flag that no tenant may set", { flags: { apiServer: { auditLogPath: "/etc/x" } } }, "FLAG_NOT_ALLOWED"],
    ["a name that leads out of its folder", { id: "../etc" }, "PROCESS_RUNTIME_UNSUPPORTED"],
  ])("is refused with %s, and nothing is made", async ([, changes, code]) => {
    const runtime = start();
    await expect(runtime.ensure(specOf(changes), signal)).rejects.toMatchObject({ code });
    expect(existsSync(join(dir, "etc"))).toBe(false);
    expect(existsSync(join(dir, "state/default.web"))).toBe(false);
  });
});

test("a control plane whose runtime is not offered is refused", async () => {
  const runtimes = createRuntimes({ runtimes: {}, default: "Embedded" });
  await expect(runtimes.ensure(specOf({ runtime: "Process" }), signal)).rejects.toMatchObject({
    code: "RUNTIME_NOT_OFFERED",
  });
});
