/** Users of clusters that are gone: which of them are deleted, and when. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { CausewayError, silentLog, systemClock, VirtualClock, type Log } from "@causeway/foundation";
import { createInformers, keyOf } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { createInstallation } from "./access/installation.ts";
import { sweepRegularly, sweepTrustees } from "./access/trustee-sweep.ts";
import { createTrustees, type Trustee, type Trustees } from "./access/trustees.ts";
import { openStore } from "./state/store.ts";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

const never = new AbortController().signal;

describe("on a cloud", () => {
  let stage: Stage;
  let admin: Cloud;
  let trustees: Trustees;
  let domain: string;
  let template: string;
  beforeAll(async () => {
    const options = (text: string) => ({
      account: loadCloudsYaml({ cloud: "simulator-admin", text }),
      domain: "clusters",
      roles: ["member"],
    });
    stage = await openStage({ trustees: options, isFollower: true });
    const text = stage.simulator.cloudsYaml;
    admin = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", text }));
    domain = (await admin.identity.domains.create({ name: "clusters" })).id;
    const using = { clock: stage.clock, log: silentLog };
    const installation = createInstallation(stage.client, silentLog);
    trustees = createTrustees(options(text), { installation, ...using });
    const { body } = await stage.call("demo", "POST", "/v1/clustertemplates", {
      body: { name: "t", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small", external_network_id: "public" },
    });
    template = String(body["uuid"]);
  });
  afterAll(async () => {
    await trustees.close();
    await admin.close();
    await stage.close();
  });

  const names = async (): Promise<string[]> =>
    (await admin.identity.users.all({ domain_id: domain })).map(({ name }) => name).toSorted();

  async function create(): Promise<string> {
    const body = { name: "c", cluster_template_id: template };
    return String((await stage.call("demo", "POST", "/v1/clusters", { body })).body["uuid"]);
  }

  /** Its row goes, as when Keystone was away at its end. */
  async function lose(uuid: string): Promise<void> {
    const labelSelector = `magnum.causeway.dev/uuid=${uuid}`;
    const body = { metadata: { finalizers: [] } };
    for (const row of (await stage.client.list(MagnumCluster, { labelSelector })).items) {
      await stage.client.patch(MagnumCluster, keyOf(row), { type: "merge", body });
      await stage.client.delete(MagnumCluster, keyOf(row));
    }
  }

  it("deletes the user of a cluster that is gone, and none that is not proved to be one", async () => {
    const [gone, kept, unmarked, foreign] = [await create(), await create(), crypto.randomUUID(), crypto.randomUUID()];
    const { hasRow: hasCluster } = openStore(createInformers(stage.client, { clock: systemClock, log: silentLog }));
    const [marked] = await admin.identity.users.all({ name: `magnum-${gone}`, domain_id: domain });
    const mark = / \[installation .+\]$/.exec(marked?.description ?? "")?.[0] ?? "";
    expect(mark).not.toBe("");
    const others = [
      { name: `magnum-${unmarked}`, description: "Cluster c of the Magnum API" },
      { name: `magnum-${foreign}`, description: "Cluster c of the Magnum API [installation another]" },
      { name: "alice", description: `she copied it${mark}` },
    ];
    for (const other of others) await admin.identity.users.create({ ...other, domain_id: domain });
    await lose(gone);
    const said: unknown[] = [];
    const log: Log = { ...silentLog, warn: (text, facts) => void said.push([text, facts]) };
    expect(await sweepTrustees({ trustees, hasCluster, log }, never)).toBe(1);
    const rest = [`magnum-${kept}`, ...others.map(({ name }) => name)];
    expect(await names()).toEqual(rest.toSorted());
    expect(said).toEqual([["deleted the user of a cluster that is gone", { user: marked?.id, cluster: gone }]]);
    expect(await sweepTrustees({ trustees, hasCluster, log }, never)).toBe(0);
  });

  const issue = async (description: string): Promise<string> => {
    const projectId = (await admin.identity.projects.all({ name: "demo" }))[0]?.id ?? "";
    const uuid = crypto.randomUUID();
    await admin.identity.users.create({ name: `magnum-${uuid}`, description, domain_id: domain });
    await trustees.issue({ uuid, name: "c", projectId }, 1, never);
    return uuid;
  };

  it("a user without a mark gets this installation's with the next credential of its cluster", async () => {
    const { hasRow: hasCluster } = openStore(createInformers(stage.client, { clock: systemClock, log: silentLog }));
    const uuid = await issue("Cluster c of the Magnum API");
    expect((await trustees.own(never)).map((one) => one.uuid)).toContain(uuid);
    expect(await sweepTrustees({ trustees, hasCluster, log: silentLog }, never)).toBe(1);
    expect(await names()).not.toContain(`magnum-${uuid}`);
  });

  it("a user with another installation's mark keeps it with a new credential, and is not swept here", async () => {
    const { hasRow: hasCluster } = openStore(createInformers(stage.client, { clock: systemClock, log: silentLog }));
    const uuid = await issue("Cluster c of the Magnum API [installation another]");
    expect((await trustees.own(never)).map((one) => one.uuid)).not.toContain(uuid);
    expect(await sweepTrustees({ trustees, hasCluster, log: silentLog }, never)).toBe(0);
    expect(await names()).toContain(`magnum-${uuid}`);
  });
});

describe("by the hour", () => {
  const users = (count: number): Trustee[] =>
    Array.from({ length: count }, (_, at) => ({ id: `u${at}`, uuid: `c${at}` }));

  function played(all: Trustee[], fails: (trustee: Trustee) => boolean = () => false) {
    const state = { lists: 0, isAway: false, left: all };
    const trustees: Pick<Trustees, "own" | "discard"> = {
      async own() {
        state.lists += 1;
        if (state.isAway) throw new CausewayError("OPENSTACK_UNREACHABLE", "identity cannot be reached");
        return state.left;
      },
      async discard(trustee) {
        if (fails(trustee)) throw new CausewayError("OPENSTACK_FORBIDDEN", "not this one");
        state.left = state.left.filter(({ id }) => id !== trustee.id);
      },
    };
    return { state, trustees, hasCluster: async () => false, log: silentLog };
  }

  it("sweeps a minute after the start and every hour, also after Keystone was away, and at most 100 users", async () => {
    const clock = new VirtualClock();
    const { state, ...using } = played(users(130));
    const stopping = new AbortController();
    const running = sweepRegularly({ ...using, clock }, stopping.signal);
    state.isAway = true;
    await clock.advance(60_000);
    expect([state.lists, state.left.length]).toEqual([1, 130]);
    state.isAway = false;
    await clock.advance(3_599_999);
    expect(state.lists).toBe(1);
    await clock.advance(1);
    await vi.waitFor(() => expect(state.left.length).toBe(30));
    await clock.advance(3_600_000);
    await vi.waitFor(() => expect([state.lists, state.left.length]).toEqual([3, 0]));
    stopping.abort();
    await running;
  });

  it("a trustee that cannot be deleted keeps no other, and three end the sweep", async () => {
    const { state, ...using } = played(users(5), ({ id }) => id === "u0");
    expect(await sweepTrustees(using, never)).toBe(4);
    expect(state.left.map(({ id }) => id)).toEqual(["u0"]);
    const all = played(users(5), () => true);
    await expect(sweepTrustees(all, never)).rejects.toMatchObject({ code: "OPENSTACK_FORBIDDEN" });
  });
});
