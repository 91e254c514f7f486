/** Rollbacks of a migration from Magnum's Heat driver, before its workers are replaced. */
import { MagnumCluster } from "@causeway/api";
import type { RunnablePhase } from "@causeway/magnum-migration";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { killed, programsFolder, startCase, type Case } from "./magnum-migration/case.ts";
import { installDriverAddons, type DriverAddons } from "./magnum-migration/driver-addons.ts";
import { UUID } from "./magnum-migration/names.ts";
import { startWriter } from "./magnum-migration/writer.ts";

const dir = programsFolder();

describe.skipIf(dir === undefined)("a cluster of Heat that is migrated", () => {
  let stage: Case;
  let driver: DriverAddons;
  beforeAll(async () => {
    stage = await startCase(dir ?? "");
    await stage.deny([UUID]);
    driver = await installDriverAddons(stage.source);
  });
  afterAll(() => stage?.stop());

  test.for<[RunnablePhase, readonly RunnablePhase[]]>([
    ["freeze", ["freeze"]],
    ["import", ["freeze", "import"]],
    ["switch", ["freeze", "import", "switch"]],
    ["adopt", ["freeze", "import", "switch", "adopt"]],
  ])(
    "is rolled back from %s by commands that are killed, with its pods and servers as before",
    { timeout: 300_000 },
    async ([name, run]) => {
      const [before, declared] = [await stage.vitals(), await driver.declared()];
      const writer = startWriter(stage.source, `back-from-${name}`);
      await stage.run("rollback").catch(() => undefined);
      await stage.discover();
      for (const phase of run) await stage.run(phase);
      const proof = await killed(stage, "rollback");
      const { written, lost, outage } = await writer.stop();
      console.log(`rollback from ${name}: ${written} writes, ${lost} lost, outage ${outage} ms`);
      expect(lost).toBe(0);
      expect(outage).toBeLessThan(30_000);
      expect(proof).toContain("etcd has the masters' members alone, with all that was written");
      expect(await stage.vitals()).toEqual(before);
      expect(await driver.declared()).toEqual(declared);
      const isActive = ["sh", "-c", "systemctl is-active kube-apiserver"];
      expect(await stage.masters.run(stage.heat.masters[0] ?? "", isActive, AbortSignal.timeout(10_000))).toBe(
        "active\n",
      );
      expect((await stage.management.list(MagnumCluster, {})).items).toEqual([]);
    },
  );
});
