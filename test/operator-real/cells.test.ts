/** A second cell of Nova on real processes: added to a cloud that runs, with a compute node of its own. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { podsOf, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { TIMEOUT, startRig, volumes, type Rig } from "./rig.ts";
import { bootServer, namesNow, serverNow } from "./servers.ts";
import { COMPUTE, CONTROL, restarted, seconds, wholeCloud, whenReady } from "./whole-cloud.ts";

const [ALL, COMPUTES] = [
  { name: "all", nodeSelector: { role: "all" }, roles: ["Control", "Compute", "Network"] },
  { name: "compute", nodeSelector: { role: "compute" }, roles: ["Compute"] },
];
const oneCell = { nodeGroups: [ALL] };
const twoCells = { cells: [{ name: "cell2" }], nodeGroups: [ALL, { ...COMPUTES, cell: "cell2" }] };
/** They know nothing of cells, or know one alone. */
const OTHERS = [
  "mariadb",
  "rabbitmq",
  "memcached",
  "keystone-api",
  "placement-api",
  "neutron-server",
  "nova-conductor",
  "nova-novncproxy",
  "nova-compute",
];

describe("a cloud of real processes with a second cell of Nova", () => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await startRig({ machines: 2 });
    rig.apply(volumes());
    rig.apply(wholeCloud({}, oneCell));
    await whenReady(rig);
  });

  afterAll(async () => {
    await rig?.close();
  });

  const manage = async (...args: string[]): Promise<string[]> => {
    const [pod = ""] = podsOf(rig, "nova-conductor");
    const command = ["nova-manage", "--config-dir", "/etc/nova/nova.conf.d", "cell_v2", ...args];
    return (await rig.inContainer(pod, "nova-conductor", ...command)).split("\n");
  };
  const podsOfOthers = () => OTHERS.map((name) => [name, podsOf(rig, name)]);

  test("takes the cell while it runs, and replaces no pod but of those that read the list of cells", async () => {
    const before = podsOfOthers();
    const began = Date.now();
    rig.apply(wholeCloud({}, twoCells));
    await eventually(
      TIMEOUT,
      () => statusOf(rig).components?.some(({ name }) => name === "nova-compute-cell2") === true,
    );
    await whenReady(rig);
    record("a second cell of Nova with one compute node, until all is ready", { seconds: seconds(Date.now() - began) });
    expect(podsOfOthers()).toEqual(before);
    expect(restarted(rig)).toEqual([]);
    const cells = (await manage("list_cells")).filter((line) => line.includes("rabbit:"));
    expect(cells.map((line) => line.split("|")[1]?.trim())).toEqual(expect.arrayContaining(["cell1", "cell2"]));
    expect(cells.find((line) => line.includes("| cell2 "))).toMatch(/\/nova_cell2\b.*\/nova_cell2\b/);
    const hosts = (await manage("list_hosts")).filter((line) => line.includes("openstack-"));
    const cellsOfHosts = hosts.map((line) => line.split("|").map((cell) => cell.trim()));
    expect(cellsOfHosts.map((fields) => [fields[1], fields[3]])).toEqual(
      expect.arrayContaining([
        ["cell1", CONTROL],
        ["cell2", COMPUTE],
      ]),
    );
    expect(hosts).toHaveLength(2);
  });

  test("runs a server in each cell, and both are in one list", async () => {
    const first = await bootServer(rig, "in-cell1", CONTROL);
    const second = await bootServer(rig, "in-cell2", COMPUTE);
    expect([first.status, second.status]).toEqual(["ACTIVE", "ACTIVE"]);
    expect(await serverNow(rig, second.id)).toEqual({ status: "ACTIVE", host: COMPUTE });
    expect((await namesNow(rig)).servers).toEqual(expect.arrayContaining(["in-cell1", "in-cell2"]));
    expect((await manage("verify_instance", "--uuid", first.id)).join(" ")).toContain("cell1");
    expect((await manage("verify_instance", "--uuid", second.id)).join(" ")).toContain("cell2");
  });
});
