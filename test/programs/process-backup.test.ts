/**
 * Backups of control planes as processes of the real programs: created by schedule and by command, restored to a time,
 * by another program of the same machine that is killed in between, and as pods' backups are.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { allKinds, Cluster, HostedControlPlane, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createBackups,
  createHostedControlPlane,
  createProcessRuntime,
  createRuntimes,
  type ObjectStore,
} from "@causeway/hosted-control-plane";
import {
  ConfigMap,
  createClient,
  createEventRecorder,
  createInformers,
  loadKubeconfig,
  Namespace,
  Secret,
  secretText,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { execute } from "./run.ts";
import { programs } from "./programs.ts";
import { create, available, key, missingFor, until, VERSION, type World } from "./runtime-world.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const why = missingFor("Process");
const tools = { clock: systemClock, log: silentLog };
const causeway = resolve(import.meta.dirname, "../../packages/causeway/src/launch.sh");

/** In memory; reads after `failAfter` do not end, as when the program is killed. */
function memory(): ObjectStore & { failAfter: number; reads: number } {
  const objects = new Map<string, Uint8Array>();
  return {
    failAfter: Infinity,
    reads: 0,
    description: "memory",
    put: async (name, data) => void objects.set(name, data),
    async get(name, signal) {
      if (this.reads++ >= this.failAfter)
        await new Promise((_, failed) => signal.addEventListener("abort", () => failed(new Error("aborted"))));
      return objects.get(name);
    },
    list: async (prefix) => [...objects.keys()].filter((name) => name.startsWith(prefix)).toSorted(),
    delete: async (name) => void objects.delete(name),
  };
}

describe.skipIf(why !== undefined)(`backups of processes${why === undefined ? "" : ` (${why})`}`, () => {
  const dir = mkdtempSync(join(tmpdir(), "process-backup-"));
  const store = memory();
  const backups = createBackups({ store, key: randomBytes(32), clock: systemClock });
  let server: ApiServer;
  let client: KubernetesClient;
  const clients: KubernetesClient[] = [];
  let end = async (): Promise<void> => {};
  const world = (): World => ({ name: "Process", client, dir }) as World;
  /** The controller and the runtime, on the state that there is. */
  const start = (): void => {
    const stopping = new AbortController();
    const folder = join(dir, "programs");
    const processes = createProcessRuntime({ dir: join(dir, "state"), programs: folder, backups, ...tools });
    const runtime = createRuntimes({ runtimes: { Process: processes }, default: "Process" });
    const informers = createInformers(client, tools);
    const events = createEventRecorder(client, { component: "test", clock: systemClock });
    const advertise = async () => "127.0.0.1";
    const controller = createHostedControlPlane({ informers, runtime, backups, advertise, events, ...tools });
    const running = [informers.run(stopping.signal), controller.run(stopping.signal)];
    end = async () => {
      stopping.abort(new Error("stopped"));
      await Promise.allSettled(running);
      await processes.stop();
    };
  };
  const tenant = async (name: string): Promise<KubernetesClient> => {
    const text = await until("kubeconfig", async () =>
      secretText(await client.find(Secret, key(`${name}-kubeconfig`)), "value"),
    );
    const opened = createClient(loadKubeconfig({ text }));
    clients.push(opened);
    return opened;
  };
  const command = (...args: string[]) =>
    execute(causeway, [...args, "--kubeconfig", join(dir, "kubeconfig")], { timeout: 240_000 });
  beforeAll(async () => {
    const { kubernetes } = programs();
    mkdirSync(join(dir, "programs"));
    if ("dir" in kubernetes) symlinkSync(kubernetes.dir, join(dir, "programs", VERSION));
    server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
    const text = await server.management.kubeconfig();
    writeFileSync(join(dir, "kubeconfig"), text);
    client = createClient(loadKubeconfig({ text }));
    start();
    await create(world(), "web", { backup: { changesEverySeconds: 3600 } });
    await available(world(), "web");
  });
  afterAll(async () => {
    await end();
    await Promise.all([...clients, client].map((each) => each.close()));
    await server.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: key(name), data: { a: name } });
  let at = "";
  let before: unknown;
  const contentOf = async (of: KubernetesClient): Promise<unknown> => {
    const view = ({ metadata, data }: ConfigMap | Secret) => [metadata.name, metadata.uid, data ?? null];
    return {
      maps: (await of.list(ConfigMap, { namespace: "default" })).items.map(view),
      secrets: (await of.list(Secret, { namespace: "default" })).items.map(view),
      namespaces: (await of.list(Namespace)).items.map(({ metadata }) => [metadata.name, metadata.uid]),
    };
  };

  test("are created by command, with all that was written before, and listed", async () => {
    const web = await tenant("web");
    await web.create(ConfigMap, configMap("kept"));
    const data = { word: Buffer.from("open").toString("base64") };
    await web.create(Secret, { apiVersion: "v1", kind: "Secret", metadata: key("password"), data } as Secret);
    await until("root", () => web.find(ConfigMap, key("kube-root-ca.crt")));
    before = await contentOf(web);
    const taken = await command("backup", "control-plane", "default/web", "-o", "json");
    expect([taken.code, taken.stderr]).toEqual([0, ""]);
    ({ time: at } = JSON.parse(taken.stdout) as { time: string });
    await web.create(ConfigMap, configMap("late"));
    const again = await command("backup", "control-plane", "web", "-n", "default");
    expect(again.stdout).toMatch(/all data backed up at/);
    const listed = await command("backup", "list", "-A");
    expect(listed.stdout).toMatch(/NAMESPACE +NAME +FROM .*\ndefault +web +web\/[0-9a-f-]+ .* BackedUp/);
  });

  test("are restored by command to a time, whole, when the program is killed in the midst of the data", async () => {
    // The secrets of the roots are read; the parts of the data are not.
    store.failAfter = store.reads + 6;
    const created = await command(
      "restore",
      "control-plane",
      "copy",
      "-n",
      "default",
      "--from",
      "web",
      "--at",
      `${at.slice(0, 19)}.999Z`,
      "--no-wait",
    );
    expect([created.code, created.stderr]).toEqual([0, ""]);
    await until("restoring", async () => (store.reads > store.failAfter ? true : undefined));
    await end();
    expect(existsSync(join(dir, "state/default.copy/restored"))).toBe(false);
    store.failAfter = Infinity;
    start();
    await available(world(), "copy");
    const copy = await tenant("copy");
    expect(await contentOf(copy)).toEqual(before);
    expect(existsSync(join(dir, "state/default.copy/restored"))).toBe(true);
    // Credentials of the first one are accepted, and what is written remains over a restart.
    const text = secretText(await client.get(Secret, key("web-kubeconfig")), "value") ?? "";
    const there = secretText(await client.get(Secret, key("copy-kubeconfig")), "value") ?? "";
    const old = createClient({ ...loadKubeconfig({ text }), server: loadKubeconfig({ text: there }).server });
    clients.push(old);
    expect((await old.get(ConfigMap, key("kept"))).data).toEqual({ a: "kept" });
    await copy.create(ConfigMap, configMap("new"));
    await end();
    start();
    await until("served again", () => copy.find(ConfigMap, key("new")));
  });

  test("that cannot be are refused at once, with status 2", async () => {
    const refused = async (...args: string[]) => {
      const { code, stderr } = await command(...args);
      return `${code} ${/[A-Z]+(_[A-Z]+)+/.exec(stderr)?.[0]}`;
    };
    expect(await refused("backup", "control-plane", "none")).toBe("2 CONTROL_PLANE_NOT_FOUND");
    expect(await refused("restore", "control-plane", "copy", "--from", "web")).toBe("2 RESTORE_NOT_POSSIBLE");
    expect(await refused("restore", "control-plane", "x", "--from", "web", "--at", "2020-01-01T00:00:00Z")).toBe(
      "2 BACKUP_POINT_MISSING",
    );
    expect((await client.list(Cluster)).items.map(({ metadata }) => metadata.name).sort()).toEqual(["copy", "web"]);
    expect((await client.list(HostedControlPlane)).items).toHaveLength(2);
  });
});
