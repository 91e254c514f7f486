import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster } from "@causeway/api";
import { systemClock, VirtualClock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { clusterApiRules } from "../../admission/rules.ts";
import { restoreClusters, saveClusters } from "../folder.ts";
import { moveClusters } from "../move.ts";
import { dying, graph, isPaused, kind, seed, shape, side, type Side } from "../testing/sides.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const signal = new AbortController().signal;
const dir = mkdtempSync(join(tmpdir(), "causeway-move-"));
const report = (): void => {};
let one: Side;
let two: Side;
beforeAll(async () => {
  [one, two] = await Promise.all([side(), side()]);
});
afterAll(async () => {
  for (const each of [one, two]) {
    await each.client.close();
    await each.server.close();
  }
  rmSync(dir, { recursive: true });
});

const saving = (namespace: string, from: KubernetesClient = one.client) => ({
  from,
  namespace,
  folder: join(dir, namespace),
  clock: systemClock,
  report,
});
const restoring = (namespace: string, to: KubernetesClient = two.client) => ({
  to,
  folder: join(dir, namespace),
  report,
});

describe("a move through a folder", () => {
  test("saves the whole graph, leaves the source as it was, and creates the same graph elsewhere", async () => {
    await seed(one.client, "through");
    const before = await shape(one, "through");
    expect(await saveClusters(saving("through"), signal)).toEqual({ clusters: ["web"], objects: 6 });
    expect(await shape(one, "through")).toEqual(before);
    const folder = join(dir, "through");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toContain("Cluster_cluster.x-k8s.io_through_web.yaml");
    expect(await restoreClusters(restoring("through"), signal)).toEqual({ clusters: ["web"], objects: 6 });
    expect(await shape(two, "through")).toEqual(before);
  });

  test("keeps a Cluster paused that was paused before", async () => {
    await seed(one.client, "paused");
    const key = { namespace: "paused", name: "web" };
    await one.client.patch(Cluster, key, { type: "merge", body: { spec: { paused: true } } });
    await saveClusters(saving("paused"), signal);
    expect(await isPaused(one, "paused")).toBe(true);
    await restoreClusters(restoring("paused"), signal);
    expect(await isPaused(two, "paused")).toBe(true);
  });

  test.for([false, true])(
    "is saved by the next attempt after an end at any change; response lost: %s",
    async (after) => {
      let ends = 0;
      for (let at = 1, dead = true; dead; at += 1) {
        const namespace = `saved-${after}-${at}`;
        await seed(one.client, namespace);
        const before = await shape(one, namespace);
        dead = await saveClusters(saving(namespace, dying(one.client, { left: at, after })), signal).then(
          () => false,
          () => true,
        );
        if (dead) {
          ends += 1;
          await saveClusters(saving(namespace), signal).catch((error: unknown) => {
            // Only when the end came after the last change is nothing left to be done.
            expect(error).toMatchObject({ code: "MOVE_FOLDER_IN_USE" });
          });
        }
        expect(await shape(one, namespace)).toEqual(before);
        expect(await restoreClusters({ ...restoring(namespace), dryRun: true }, signal)).toMatchObject({ objects: 6 });
      }
      expect(ends).toBeGreaterThan(1);
    },
  );

  test.for([false, true])(
    "is created by the next attempt after an end at any change, paused until all is there; response lost: %s",
    async (after) => {
      let ends = 0;
      for (let at = 1, dead = true; dead; at += 1) {
        const namespace = `created-${after}-${at}`;
        await seed(one.client, namespace);
        const before = await shape(one, namespace);
        await saveClusters(saving(namespace), signal);
        dead = await restoreClusters(restoring(namespace, dying(two.client, { left: at, after })), signal).then(
          () => false,
          () => true,
        );
        if ((await isPaused(two, namespace)) === false) expect(await graph(two, namespace)).toHaveLength(6);
        if (dead) {
          ends += 1;
          await restoreClusters(restoring(namespace), signal).catch((error: unknown) => {
            // Only when the end came after the last change is nothing left to be done.
            expect(error).toMatchObject({ code: "MOVE_TARGET_OCCUPIED" });
          });
        }
        expect(await shape(two, namespace)).toEqual(before);
      }
      expect(ends).toBeGreaterThan(12);
    },
  );

  test("unpauses the clusters where they cannot be saved", async () => {
    await seed(one.client, "acting");
    const key = { namespace: "acting", name: "web" };
    const conditions = [
      { type: "Paused", status: "False", reason: "NotPaused", lastTransitionTime: "2026-01-01T00:00:00Z" },
    ];
    await one.client.patch(
      Cluster,
      key,
      { type: "merge", body: { status: { conditions } } },
      { subresource: "status" },
    );
    const before = await shape(one, "acting");
    const saved = saveClusters({ ...saving("acting"), clock: new VirtualClock(), pauseTimeout: 0 }, signal);
    await expect(saved).rejects.toMatchObject({ code: "MOVE_NOT_PAUSED" });
    expect(await shape(one, "acting")).toEqual(before);
    expect(readdirSync(dir)).not.toContain("acting");
  });

  test("is equal where the target's admission adds defaults that an older source lacks", async () => {
    const nothing = () => Promise.resolve(undefined);
    const rules = clusterApiRules({ class: nothing, controlPlane: nothing, users: () => Promise.resolve([]) });
    const target = await side({ rules: [rules] });
    try {
      for (const namespace of ["older-folder", "older-move"]) {
        await seed(one.client, namespace);
        const key = { namespace, name: "web-machine" };
        await one.client.patch(kind("Machine"), key, { type: "merge", body: { spec: { version: "1.34.4" } } });
      }
      await saveClusters(saving("older-folder"), signal);
      await restoreClusters(restoring("older-folder", target.client), signal);
      const moving = { from: one.client, to: target.client, namespace: "older-move", clock: systemClock, report };
      await moveClusters(moving, signal);
      for (const namespace of ["older-folder", "older-move"])
        expect(await target.client.get(kind("Machine"), { namespace, name: "web-machine" })).toMatchObject({
          spec: { version: "v1.34.4" },
        });
    } finally {
      await target.client.close();
      await target.server.close();
    }
  });

  test("changes nothing in a dry run", async () => {
    await seed(one.client, "dry");
    const before = await shape(one, "dry");
    expect(await saveClusters({ ...saving("dry"), dryRun: true }, signal)).toMatchObject({ clusters: ["web"] });
    expect(readdirSync(dir)).not.toContain("dry");
    await saveClusters(saving("dry"), signal);
    expect(await restoreClusters({ ...restoring("dry"), dryRun: true }, signal)).toMatchObject({ objects: 6 });
    expect(await graph(two, "dry")).toEqual([]);
    expect(await shape(one, "dry")).toEqual(before);
  });

  const change = (name: string, file: string, edit: (text: string) => string): void => {
    const path = join(dir, name, file);
    writeFileSync(path, edit(readFileSync(path, "utf8")));
  };
  test.for<[string, string, (name: string) => Promise<unknown>]>([
    ["MOVE_NOTHING", "a namespace without Clusters", () => saveClusters(saving("none"), signal)],
    [
      "MOVE_FOLDER_IN_USE",
      "a folder that is being written, and is not ours",
      (name) => {
        mkdirSync(join(dir, `${name}.partial`));
        return saveClusters(saving(name), signal);
      },
    ],
    [
      "MOVE_FOLDER_FAILED",
      "a folder in a file",
      (name) => {
        writeFileSync(join(dir, name), "");
        return saveClusters({ ...saving(name), folder: join(dir, name, "saved") }, signal);
      },
    ],
    [
      "MOVE_FOLDER_FAILED",
      "a folder that the system makes",
      (name) => saveClusters({ ...saving(name), folder: "/proc/clusters/saved" }, signal),
    ],
    [
      "MOVE_UNDER_WAY",
      "clusters that are being saved elsewhere",
      async (name) => {
        const body = { metadata: { annotations: { "move.causeway.dev/target": "directory /elsewhere" } } };
        await one.client.patch(Cluster, { namespace: name, name: "web" }, { type: "merge", body });
        return saveClusters(saving(name), signal);
      },
    ],
    [
      "MOVE_FOLDER_INVALID",
      "a file without metadata",
      async (name) => {
        await saveClusters(saving(name), signal);
        const file = `Secret_${name}_web-ca.yaml`;
        change(name, file, () => "apiVersion: v1\nkind: Secret\n");
        const sha256 = createHash("sha256")
          .update(readFileSync(join(dir, name, file)))
          .digest("hex");
        change(name, "move.json", (text) => {
          const manifest = JSON.parse(text) as { entries: { file: string; sha256: string }[] };
          const entries = manifest.entries.map((entry) => (entry.file === file ? { ...entry, sha256 } : entry));
          return JSON.stringify({ ...manifest, entries });
        });
        return restoreClusters(restoring(name), signal);
      },
    ],
    [
      "MOVE_FOLDER_IN_USE",
      "a folder that has files",
      async (name) => {
        await saveClusters(saving(name), signal);
        return saveClusters(saving(name), signal);
      },
    ],
    [
      "MOVE_FOLDER_IN_USE",
      "a file in place of a folder",
      (name) => {
        writeFileSync(join(dir, name), "");
        return saveClusters(saving(name), signal);
      },
    ],
    [
      "MOVE_CONTROL_PLANE_STAYS",
      "a hosted control plane",
      async (name) => {
        const type = kind("HostedControlPlane");
        const apiVersion = `${type.group}/${type.version}`;
        const metadata = { namespace: name, name: "web" };
        await one.client.create(type, { apiVersion, kind: type.kind, metadata, spec: { version: "v1.34.0" } } as never);
        return saveClusters(saving(name), signal);
      },
    ],
    ["MOVE_FOLDER_INVALID", "a folder that does not exist", (name) => restoreClusters(restoring(name), signal)],
    [
      "MOVE_FOLDER_INVALID",
      "a file that was changed",
      async (name) => {
        await saveClusters(saving(name), signal);
        change(name, `Secret_${name}_web-ca.yaml`, (text) => text.replace("c2VjcmV0", "b3RoZXI="));
        return restoreClusters(restoring(name), signal);
      },
    ],
    [
      "MOVE_FOLDER_INVALID",
      "a list that leads out of the folder",
      async (name) => {
        await saveClusters(saving(name), signal);
        change(name, "move.json", (text) => text.replace(`Secret_${name}_web-ca.yaml`, "../../etc/passwd"));
        return restoreClusters(restoring(name), signal);
      },
    ],
    [
      "MOVE_FOLDER_INVALID",
      "a list that is not JSON",
      async (name) => {
        await saveClusters(saving(name), signal);
        change(name, "move.json", () => "{");
        return restoreClusters(restoring(name), signal);
      },
    ],
    [
      "MOVE_TARGET_OCCUPIED",
      "clusters that are there",
      async (name) => {
        await saveClusters(saving(name), signal);
        await restoreClusters(restoring(name), signal);
        return restoreClusters(restoring(name), signal);
      },
    ],
  ])("is refused with %s: %s", async ([code, title, attempt]) => {
    const name = `refused-${title.replaceAll(/[^a-z]+/gi, "-").toLowerCase()}`;
    await seed(one.client, name);
    const before = await shape(one, name);
    await expect(attempt(name)).rejects.toMatchObject({ code });
    expect((await shape(one, name)).length).toBeGreaterThanOrEqual(before.length);
    expect(await isPaused(one, name)).toBe(false);
  });
});
