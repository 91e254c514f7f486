/** Further cells of Nova on a simulated cluster: added to a cloud that runs, and what is refused of them. */
import { DaemonSet, Deployment, Node } from "@causeway/kubernetes";
import { afterEach, describe, expect, test } from "vitest";
import { OperatorWorld } from "./world.ts";

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await OperatorWorld.start(1));

const control = { name: "control", nodeSelector: { role: "control" }, roles: ["Control", "Network"] };
const compute = { name: "compute", nodeSelector: { role: "compute" }, roles: ["Compute"] };
const gpu = { name: "gpu", nodeSelector: { role: "gpu" }, roles: ["Compute"] };
const cells = [{ name: "cell2" }];
const twoCells = { cells, nodeGroups: [control, compute, { ...gpu, cell: "cell2" }] };
/** They read the list of cells when they start. */
const READERS = ["nova-api", "nova-metadata", "nova-scheduler", "nova-super-conductor"];

describe("a cell that is added to a cloud that runs", () => {
  test("is complete before it is mapped, and mapped before its processes and those that read the list start", async () => {
    const w = await start();
    let kill = w.runOperator();
    await w.createDeployment();
    await w.whenReady();
    await w.settle();
    await w.addNodes("gpu", 2);
    w.started.length = 0;
    const seen = w.writes.length;
    await w.change(twoCells);
    for (let at = seen; (await w.component("nova-discover-hosts-cell2"))?.state !== "Ready";) {
      await w.glance(1_000);
      if (w.writes.length < at + 4) continue;
      at = w.writes.length;
      await kill();
      kill = w.runOperator();
    }
    const { status } = await w.whenReady();
    expect(status?.release).toBe("2025.1");
    const order = (...names: string[]) => {
      const places = names.map((name) => w.started.indexOf(name));
      expect(places, names.join(", ")).toEqual(places.toSorted((a, b) => a - b));
      expect(places).not.toContain(-1);
    };
    order("nova-db-init-cell2", "nova-cell-sync-cell2", "nova-cell-map-cell2", "nova-conductor-cell2");
    order("nova-broker-init-cell2", "nova-cell-map-cell2", "nova-novncproxy-cell2");
    for (const name of READERS) order("nova-cell-map-cell2", name);
    order("nova-conductor-cell2", "nova-compute-cell2", "nova-discover-hosts-cell2");
    const replaced = new Set(
      w.writes.slice(seen).flatMap(({ verb, kind, name }) => (verb === "apply" && kind === "Deployment" ? [name] : [])),
    );
    expect([...replaced].toSorted()).toEqual(
      [...READERS, "nova-conductor-cell2", "nova-novncproxy-cell2"].map((name) => `cloud-${name}`).toSorted(),
    );
    expect((await w.component("nova-compute-cell2"))?.step).toBe("2 of 2 nodes run it");
    expect((await w.component("nova-compute"))?.step).toBe("1 of 1 nodes run it");
  });

  test("names the root cause of what waits for it", async () => {
    const w = await start();
    w.fateOf = (component) => (component === "nova-cell-sync-cell2" ? "hangs" : "runs");
    w.runOperator();
    await w.createDeployment({ cells });
    const waiting = await w.until("the conductor of the cell waits", async () => {
      const found = await w.component("nova-conductor-cell2");
      return found?.rootCause?.startsWith("nova-cell-sync-cell2: ") && found;
    });
    expect(waiting.waitingFor).toContain("nova-cell-map-cell2");
  });

  test("is refused where a node would be in two cells, and nothing is changed", async () => {
    const w = await start();
    w.runOperator();
    await w.createDeployment({ nodeGroups: [control, compute, gpu] as never });
    await w.addNodes("gpu", 1);
    await w.whenReady();
    await w.settle();
    const seen = w.writes.length;
    await w.change({ cells, nodeGroups: [control, compute, { ...gpu, name: "other", cell: "cell2" }] });
    const refused = await w.until("a refusal", async () => {
      const found = await w.condition("ConfigurationValid");
      return found?.status === "False" && found;
    });
    expect(refused).toMatchObject({ reason: "CellRefused" });
    expect(refused.message).toMatch(/node gpu-0 is in cell1 by DaemonSet cloud-nova-compute-gpu, and in cell2/);
    expect(w.writes.slice(seen).filter(({ verb }) => verb !== "apply status")).toEqual([]);
    // Another label, and with it no group of another cell.
    await w.client.patch(
      Node,
      { namespace: "", name: "gpu-0" },
      { type: "merge", body: { metadata: { labels: { role: "free" } } } },
    );
    await w.whenReady();
    const names = (await w.list(DaemonSet)).map(({ metadata }) => metadata.name);
    expect(names).toContain("cloud-nova-compute-other");
    expect((await w.list(Deployment)).map(({ metadata }) => metadata.name)).toContain("cloud-nova-conductor-cell2");
  });
});

describe("the API server refuses", () => {
  test.each([
    [
      "a group of a cell that is not there",
      { nodeGroups: [control, { ...compute, cell: "cell9" }] },
      /names a cell that is not in cells/,
    ],
    [
      "another cell of a group",
      { nodeGroups: [control, { ...compute, cell: "cell2" }] },
      /cannot be changed: Nova moves no host.*Drain its nodes/,
    ],
    [
      "a cell of nodes without servers",
      { nodeGroups: [{ ...control, cell: "cell2" }, compute] },
      /without the role Compute has no cell/,
    ],
    ["a cell that is removed", { cells: [] }, /a cell cannot be removed/],
    ["all cells removed", { cells: null }, /a cell cannot be removed/],
    ["the first cell", { cells: [...cells, { name: "cell1" }] }, /cell0 and cell1 are in every deployment/],
    ["the name of another database", { cells: [...cells, { name: "api" }] }, /nova_api is another database/],
    ["a name that no database has", { cells: [...cells, { name: "Cell-3" }] }, /spec.cells\[1\].name/],
    ["two cells of one name", { cells: [...cells, ...cells] }, /Duplicate value/],
  ])("%s", async (_, change, message) => {
    const w = await start();
    await w.createDeployment({ cells });
    await expect(w.change(change)).rejects.toThrow(message);
  });

  test("no list that goes and had no cells", async () => {
    const w = await start();
    await w.createDeployment({ cells: [] });
    expect((await w.change({ cells: null })).spec.cells).toBeUndefined();
  });
});
