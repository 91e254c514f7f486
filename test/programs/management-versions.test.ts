/**
 * The management program is upgraded with tenants under load: `causeway up` of an earlier checkout, which
 * CAUSEWAY_PREVIOUS names (with its node_modules), is stopped, and the one of this checkout starts on its folder.
 * Tenants on embedded control planes and on processes of Kubernetes' own programs.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HostedControlPlane } from "@causeway/api";
import { systemClock } from "@causeway/foundation";
import { createClient, isTrue, loadKubeconfig, Secret, secretText, type Condition } from "@causeway/kubernetes";
import { afterAll, describe, expect, test, vi } from "vitest";
import { causeway, startProgram, type Started } from "../support/processes.ts";
import { programs } from "./programs.ts";
import { create, key, until, VERSION } from "./runtime-world.ts";
import { expectStored, loadOn, prepareLoad } from "./write-load.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const previous = process.env["CAUSEWAY_PREVIOUS"];
const { kubernetes } = programs();
const dir = "reason" in kubernetes ? undefined : kubernetes.dir;
const tenants = { "embedded-1": "Embedded", "embedded-2": "Embedded", process: "Process" } as const;

describe.skipIf(previous === undefined || dir === undefined)(
  "a management program of an earlier version (CAUSEWAY_PREVIOUS)",
  () => {
    let folder: string | undefined;
    let running: Started | undefined;
    afterAll(async () => {
      await running?.stop();
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    });

    test(
      "is followed by this one on its folder: no acknowledged write is lost, and endpoints remain",
      { retry: 0 },
      async () => {
        folder = mkdtempSync(join(tmpdir(), "versions-"));
        const [state, installed] = [join(folder, "state"), join(folder, "programs")];
        mkdirSync(installed);
        symlinkSync(dir ?? "", join(installed, VERSION));
        const args = ["up", "--state", state, "--advertise-address", "127.0.0.1", "--runtime", "process"];
        args.push("--programs", installed);
        const program = join(previous ?? "", "packages/causeway/src/start.js");
        running = startProgram(process.execPath, [program, ...args], { cwd: previous ?? "" });
        await running.until(/management API \S+\n/);
        const client = createClient(loadKubeconfig({ path: join(state, "management.kubeconfig") }));
        const names = Object.keys(tenants);
        for (const [name, runtime] of Object.entries(tenants))
          await create({ client, name: runtime }, name, { runtime });
        const availableNow = (name: string) =>
          until(`${name} available`, async () => {
            const { status } = await client.get(HostedControlPlane, key(name));
            return isTrue((status?.conditions ?? []) as Condition[], "Available") ? true : undefined;
          });
        for (const name of names) await availableNow(name);
        const kubeconfigs = async (): Promise<string[]> =>
          Promise.all(
            names.map(async (name) => secretText(await client.get(Secret, key(`${name}-kubeconfig`)), "value") ?? ""),
          );
        const before = await kubeconfigs();
        const apis = before.map((text) => createClient(loadKubeconfig({ text })));
        for (const api of apis) await prepareLoad(api);
        const loads = apis.map((api) => loadOn(api, "upgrade"));
        for (const load of loads) await until("writes", async () => (load.fewest() > 20 ? true : undefined));

        const began = performance.now();
        expect(await running.stop("SIGTERM")).not.toBeNull();
        const stopped = performance.now() - began;
        running = causeway(args);
        await running.until(/management API \S+\n/);
        const done = loads.map((load) => load.fewest());
        for (const [index, load] of loads.entries())
          await until("writes afterwards", async () => (load.fewest() >= (done[index] ?? 0) + 20 ? true : undefined));
        await systemClock.sleep(5_000);
        const results = await Promise.all(loads.map((load) => load.end()));
        for (const [index, result] of results.entries()) {
          const { created, counts: _, ...rest } = result;
          console.log({ tenant: names[index], created: created.length, ...rest, stopped: Math.round(stopped) });
          await expectStored(apis[index] ?? client, "upgrade", result);
        }
        expect(await kubeconfigs()).toEqual(before);
        for (const name of names) await availableNow(name);
        for (const api of [...apis, client]) await api.close();
      },
    );
  },
);
