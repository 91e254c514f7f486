/** A rollback of a migration from Magnum's Heat driver whose workers were replaced already. */
import { Node } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { killed, programsFolder, startCase, type Case } from "./magnum-migration/case.ts";
import { UUID } from "./magnum-migration/names.ts";
import { startWriter } from "./magnum-migration/writer.ts";

const dir = programsFolder();

describe.skipIf(dir === undefined)("a cluster of Heat whose workers were replaced", () => {
  let stage: Case;
  beforeAll(async () => {
    stage = await startCase(dir ?? "");
    await stage.deny([UUID]);
    await stage.discover();
  });
  afterAll(() => stage?.stop());

  test(
    "is rolled back by commands that are killed, with its new nodes and all that was written",
    { timeout: 400_000 },
    async () => {
      const writer = startWriter(stage.source);
      for (const phase of ["freeze", "import", "switch", "adopt", "roll"] as const) await stage.run(phase);
      const proof = await killed(stage, "rollback");
      const { written, lost, outage } = await writer.stop();
      console.log(`rollback after roll: ${written} writes, ${lost} lost, outage ${outage} ms`);
      expect(lost).toBe(0);
      expect(outage).toBeLessThan(30_000);
      expect(proof).toContain("etcd has the masters' members alone, with all that was written");
      expect(proof.split("\n").filter((line) => line.includes("was made by roll"))).toHaveLength(5);
      expect((await stage.source.list(Node, {})).items).toHaveLength(5);
    },
  );
});
