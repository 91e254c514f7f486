/**
 * A cluster of a real Magnum, migrated: Debian's Magnum and Heat make its stacks, networks, servers, load balancers,
 * floating IP and certificates; its masters run etcd and the control plane's programs in their servers' namespaces, its
 * workers real kubelets and containers. `npm run test:openstack -- magnum-migration` builds what is needed;
 * CAUSEWAY_MIGRATION_SOURCE=previous has the cluster be of the minor before.
 */
import { MagnumCluster } from "@causeway/api";
import { Node } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startWorkload } from "../programs/magnum-migration/workload.ts";
import { startWriter } from "../programs/magnum-migration/writer.ts";
import { networkEnds } from "./magnum-migration/devcloud.ts";
import { checkNodeServices } from "./magnum-migration/node-services.ts";
import { startPodWriter, type PodWriter } from "./magnum-migration/pod-writer.ts";
import { startRig, type Rig, type RigOf } from "./magnum-migration/rig.ts";
import { AGNHOST, startTickers, type Tickers } from "./magnum-migration/tickers.ts";
import { balancersOf, floatingOf, groupsOf, networkOf, residueOf, vitalsOf } from "./magnum-migration/vitals.ts";

const given = process.env["CAUSEWAY_MIGRATION_RIG"];
const of = given === undefined ? undefined : (JSON.parse(given) as RigOf);
const LIMIT = 45 * 60_000;
const OUTAGE = 30_000;
/** Of the devcloud, which boots none of its images. */
const NODE_IMAGE = "cirros";

describe.skipIf(of === undefined)("a cluster of a real Magnum", { timeout: LIMIT }, () => {
  let rig: Rig;
  let tickers: Tickers;
  let podWriter: PodWriter;
  /** Security groups of before the import. */
  let groups: readonly string[];
  /** What the cloud's administrator has of projects, users and trusts, before anything was made. */
  let residue: readonly string[];

  beforeAll(async () => {
    residue = await residueOf();
    rig = await startRig(of as RigOf);
    tickers = await startTickers(rig.old.client, rig.source);
    podWriter = await startPodWriter(rig.old.client);
  }, LIMIT);

  afterAll(async () => {
    await rig?.close();
    // Others may delete meanwhile what they had.
    expect((await residueOf()).filter((line) => !residue.includes(line))).toEqual([]);
  }, LIMIT);

  const vitals = () => vitalsOf(rig.cloud, tickers);

  /** Writes lost and the longest time between two, printed, while something is done. */
  async function whileWriting(name: string, work: () => Promise<void>): Promise<void> {
    const ends = networkEnds();
    const writer = startWriter(rig.old.client, name);
    await work();
    const { written, lost, outage } = await writer.stop();
    const ended = networkEnds() - ends;
    console.log(
      `${name}: ${written} writes, ${lost} lost, outage ${outage} ms; the cloud's network ended ${ended} times`,
    );
    expect(written).toBeGreaterThan(5);
    expect(lost).toBe(0);
    if (ended === 0) expect(outage).toBeLessThan(OUTAGE);
    const pod = await podWriter.nextWrite();
    console.log(`${name}: the pod that writes by Service kubernetes continues at ${pod.written} on ${pod.node}`);
    expect(await podWriter.lost()).toEqual([]);
  }

  /** Runs a phase that is killed with SIGKILL again and again until it ends by itself. */
  async function phase(name: string, ...more: readonly string[]): Promise<string> {
    const begun = Date.now();
    const { text, kills } = await rig.killed(name, ...more);
    console.log(`${name}: killed ${kills} times, ${((Date.now() - begun) / 1000).toFixed(1)} s\n${text}`);
    expect(text).toContain("proof: ");
    expect(kills).toBeGreaterThan(0);
    return text;
  }

  const unitsOf = (): Promise<string[]> =>
    Promise.all(rig.old.masters.map((master) => master.run("systemctl is-active kube-apiserver etcd || true")));

  async function discovered(): Promise<void> {
    const text = await rig.migrate("discover");
    expect(text).toContain("It can be migrated.");
    for (const { name, address, id } of [...rig.old.masters, ...rig.old.workers])
      expect(text).toContain(`${name} ${address} (${id})`);
  }

  /** The API at its floating IP, for those outside of the cloud, too. */
  async function expectFloating(is: readonly string[]): Promise<void> {
    expect(await floatingOf(rig.cloud, rig.old.floating)).toEqual(is);
    expect(await rig.outside.version()).toBe(of?.version);
  }

  test("is discovered whole, and can be migrated", async () => {
    await discovered();
    await expectFloating(await floatingOf(rig.cloud, rig.old.floating));
  });

  test("is not frozen while Magnum accepts changes of it, and then is", async () => {
    await expect(rig.migrate("freeze")).rejects.toThrow("MIGRATE_NOT_DENIED");
    rig.deny();
    const text = await phase("freeze");
    expect(text).toContain("heat-container-agent is stopped on 8 machines");
    for (const machine of [...rig.old.masters, ...rig.old.workers])
      expect(await machine.run("systemctl is-active heat-container-agent || true")).toBe("inactive\n");
  });

  test("is switched and adopted without a lost write or a restarted container", async () => {
    const [before, address] = [await vitals(), await floatingOf(rig.cloud, rig.old.floating)];
    groups = await groupsOf(rig.cloud);
    await whileWriting("import-switch-adopt", async () => {
      for (const name of ["import", "switch", "adopt"]) await phase(name);
    });
    expect(await vitals()).toEqual(before);
    expect(tickers.grown()).toBe(true);
    await expectFloating(address);
    expect(await unitsOf()).toEqual(rig.old.masters.map(() => "inactive\nactive\n"));
  });

  test("is rolled back to its masters, with everything that was written", async () => {
    const [before, address] = [await vitals(), await floatingOf(rig.cloud, rig.old.floating)];
    await whileWriting("rollback", async () => void (await phase("rollback")));
    expect(await vitals()).toEqual(before);
    expect(tickers.grown()).toBe(true);
    expect(await unitsOf()).toEqual(rig.old.masters.map(() => "active\nactive\n"));
    expect(await groupsOf(rig.cloud)).toEqual(groups);
    await expectFloating(address);
  });

  test("is migrated after its rollback, and its workers are replaced one at a time", async () => {
    const workload = await startWorkload(rig.old.client, { replicas: 3, minAvailable: 2, image: AGNHOST });
    const [old, address] = [await vitals(), await floatingOf(rig.cloud, rig.old.floating)];
    await whileWriting("again", async () => {
      await discovered();
      for (const name of ["freeze", "import", "switch", "adopt"]) expect(await rig.migrate(name)).toContain("proof: ");
    });
    expect(await vitals()).toEqual(old);
    // Heat's nodes are of Fedora CoreOS, as Magnum demands it.
    await expect(rig.migrate("roll")).rejects.toThrow("MIGRATE_NODE_IMAGE_UNFIT");
    await whileWriting("roll", async () => void (await phase("roll", "--node-image", NODE_IMAGE)));
    const { fewest, most } = await workload.stop();
    console.log(`roll: ${fewest} to ${most} pods ready`);
    expect(fewest).toBeGreaterThanOrEqual(2);
    const { items } = await rig.old.client.list(Node, {});
    const ids = items.map(({ spec }) => spec?.providerID?.split("/").at(-1) ?? "");
    const heats = new Set(rig.old.workers.map(({ id }) => id));
    expect(ids.filter((id) => heats.has(id))).toEqual([]);
    expect(ids).toHaveLength(heats.size);
    await expectFloating(address);
    const nodes = items.map(({ metadata }) => metadata.name).toSorted();
    expect(nodes).toContain((await podWriter.nextWrite()).node);
    const services = await checkNodeServices(rig.old.client, rig.source, nodes);
    console.log(`a Service is reached from ${services.reached.length} of ${nodes.length} nodes`);
    expect(services).toEqual({ reached: nodes, logged: nodes });
  });

  test("is retired: Heat and the old Magnum have nothing of it, and what it needs is kept", async () => {
    await expect(rig.migrate("retire")).rejects.toThrow("MIGRATE_NOT_CONFIRMED");
    const [network, address, balancers] = [
      await networkOf(rig.cloud),
      await floatingOf(rig.cloud, rig.old.floating),
      await balancersOf(rig.cloud),
    ];
    let proof = "";
    await whileWriting("retire", async () => void (proof = await phase("retire", "--yes")));
    expect(proof).toContain("Heat has none of the 2 stacks");
    expect(proof).toContain("etcd has the hosted member alone");
    expect(proof).toContain("Magnum's database has no row");
    expect(proof).toContain("Keystone has no accounts of the abandoned stacks");
    const { stacks } = (await rig.ask("GET", "orchestration", "/stacks")) as { stacks: readonly unknown[] };
    const { clusters } = (await rig.ask("GET", "container-infra", "/clusters")) as { clusters: readonly unknown[] };
    expect([stacks, clusters]).toEqual([[], []]);
    const { items } = await rig.management.list(MagnumCluster, {});
    expect(items.map(({ spec, status }) => `${spec.uuid} ${status?.status ?? ""}`)).toEqual([
      `${rig.old.uuid} UPDATE_COMPLETE`,
    ]);
    expect(await networkOf(rig.cloud)).toEqual(network);
    await expectFloating(address);
    const api = address[0]?.split(" ")[1] ?? "";
    expect((await balancersOf(rig.cloud)).filter((line) => line.includes(api))).toEqual(
      balancers.filter((line) => line.includes(api)),
    );
    const servers = (await rig.cloud.compute.servers.all()).map(({ id }) => id);
    const gone = new Set([...rig.old.masters, ...rig.old.workers].map(({ id }) => id));
    expect(servers.filter((id) => gone.has(id))).toEqual([]);
    expect(servers).toHaveLength(rig.old.workers.length);
    await expect(rig.migrate("rollback")).rejects.toThrow("MIGRATE_TOO_LATE");
  });
});
