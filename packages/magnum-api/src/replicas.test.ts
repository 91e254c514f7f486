import { MagnumCluster, MagnumClusterTemplate } from "@causeway/api";
import { silentLog, systemClock } from "@causeway/foundation";
import { createInformers, keyOf, Lease } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startMagnum } from "./magnum-api.ts";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
/** Of every process. */
let urls: string[];
const stopping = new AbortController();
const running: Promise<unknown>[] = [];
const maxTemplates = 3;

beforeAll(async () => {
  stage = await openStage({ maxTemplates });
  urls = [stage.url, await another("second"), await another("third")];
});
afterAll(async () => {
  stopping.abort();
  await Promise.all(running);
  await stage.close();
});

/** One more process on the same management cluster. */
async function another(identity: string): Promise<string> {
  const using = { clock: systemClock, log: silentLog };
  const informers = createInformers(stage.client, using);
  const keystone = { name: "simulator", authUrl: stage.simulator.authUrl };
  const election = { namespace: "kube-system", identity };
  const address = { host: "127.0.0.1", port: 0 };
  const magnum = await startMagnum({ informers, keystone, ...address, election, maxTemplates, ...using });
  running.push(informers.run(stopping.signal), magnum.run(stopping.signal));
  await informers.whenSynced();
  return `http://127.0.0.1:${magnum.port}`;
}

async function send(process: number, method: string, path: string, body?: object, who = "demo") {
  const response = await fetch(`${urls[process % urls.length]}/v1/${path}`, {
    method,
    headers: { "content-type": "application/json", "x-auth-token": stage.tokens.get(who) ?? "" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
}

/** Members see what another one has written by their watches: soon, unless the machine is busy. */
const seen = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 30_000 });

/** Sets the quota, and waits until every process has read it. */
async function limitTo(limit: number, project: string): Promise<void> {
  await send(1, "POST", "quotas", { project_id: project, resource: "Cluster", hard_limit: limit }, "admin");
  for (const i of urls.keys())
    await seen(async () => {
      const { body } = await send(i, "GET", `quotas/${project}/Cluster`);
      expect(body["hard_limit"]).toBe(limit);
    });
}

const template = { name: "small", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small" };

describe("several processes on one management cluster", () => {
  it("create one cluster for each request, which all of them show, and keep the quota of a project together", async () => {
    const made = await send(0, "POST", "clustertemplates", { ...template, external_network_id: "public" });
    const uuid = String(made.body["uuid"]);
    await seen(async () => {
      for (const i of urls.keys()) expect((await send(i, "GET", `clustertemplates/${uuid}`)).status).toBe(200);
    });
    const limit = 4;
    for (let round = 0; round < 3; round++) {
      const project = (await stage.client.list(MagnumCluster)).items[0]?.spec.projectID;
      if (round === 1) await limitTo(limit, project ?? "");
      const requests = Array.from({ length: 9 }, (_, i) => i);
      const wanted = round === 0 ? requests.slice(0, 1) : requests;
      const name = (i: number): string => `c-${round}-${i}`;
      const replies = await Promise.all(
        wanted.map((i) => send(i, "POST", "clusters", { name: name(i), cluster_template_id: uuid })),
      );
      const accepted = replies.filter(({ status }) => status === 202).map(({ body }) => String(body["uuid"]));
      expect(replies.every(({ status }) => status === 202 || status === 403)).toBe(true);
      const { items } = await stage.client.list(MagnumCluster);
      const own = items.filter(({ spec }) => spec.name.startsWith(`c-${round}-`));
      // What was accepted is there once, and what was refused is not.
      expect(own.map(({ spec }) => spec.uuid).toSorted()).toEqual(accepted.toSorted());
      expect(items.length).toBeLessThanOrEqual(limit);
    }
    const all = (await stage.client.list(MagnumCluster)).items.map(({ spec }) => spec.uuid).toSorted();
    for (const i of urls.keys())
      await seen(async () => {
        const { body } = await send(i, "GET", "clusters");
        expect((body["clusters"] as { uuid: string }[]).map((one) => one.uuid).toSorted()).toEqual(all);
      });
    // One at a time fills the quota to its limit.
    for (let i = all.length; i < limit; i++)
      expect((await send(i, "POST", "clusters", { name: `last-${i}`, cluster_template_id: uuid })).status).toBe(202);
    expect((await send(0, "POST", "clusters", { name: "over", cluster_template_id: uuid })).status).toBe(403);
  });

  it("keep the limit of a project's templates together", async () => {
    const ofAlt = { ...template, name: "of-alt", external_network_id: "public" };
    for (let round = 0; round < 5; round++) {
      const requests = Array.from({ length: 12 }, (_, i) => send(i, "POST", "clustertemplates", ofAlt, "alt"));
      const replies = await Promise.all(requests);
      const made = replies.filter(({ status }) => status === 201).map(({ body }) => String(body["uuid"]));
      expect(replies.every(({ status }) => status === 201 || status === 403)).toBe(true);
      const { items } = await stage.client.list(MagnumClusterTemplate);
      const own = items.filter(({ spec }) => spec.name === "of-alt");
      expect(own.map(({ spec }) => spec.uuid).toSorted()).toEqual(made.toSorted());
      expect(made.length).toBeLessThanOrEqual(maxTemplates);
      for (const each of own) await stage.client.delete(MagnumClusterTemplate, keyOf(each));
      await seen(async () => {
        for (const i of urls.keys())
          expect((await send(i, "GET", "clustertemplates", undefined, "alt")).body["clustertemplates"]).toEqual([]);
      });
    }
  });

  it("serve a client whose requests go to each in turn: what it made it finds at once, by id and name, and once", async () => {
    let turn = 0;
    const next = (method: string, path: string, body?: object) => send(turn++, method, path, body, "alt");
    for (let round = 0; round < 6; round += 1) {
      const [small, web] = [`small-${round}`, `web-${round}`];
      const made = await next("POST", "clustertemplates", { ...template, name: small, external_network_id: "public" });
      expect((await next("GET", `clustertemplates/${small}`)).body["uuid"]).toBe(made.body["uuid"]);
      const created = await next("POST", "clusters", { name: web, cluster_template_id: small });
      expect([created.status, created.body]).toEqual([202, { uuid: expect.any(String) as string }]);
      const { uuid } = created.body as { uuid: string };
      expect((await next("GET", `clusters/${web}`)).body["uuid"]).toBe(uuid);
      expect((await next("GET", `clusters/${uuid}`)).body["name"]).toBe(web);
      for (const i of urls.keys())
        await seen(async () => {
          const { body } = await send(i, "GET", "clusters", undefined, "alt");
          expect((body["clusters"] as { uuid: string }[]).map((one) => one.uuid)).toEqual([uuid]);
        });
      expect((await next("DELETE", `clusters/${web}`)).status).toBe(204);
      await seen(async () => expect((await next("GET", `clusters/${uuid}`)).status).toBe(404));
      await vi.waitFor(
        async () => expect((await next("DELETE", `clustertemplates/${small}`)).status).toBe(204),
        20_000,
      );
    }
  });

  it("elect one of them to run the controller", async () => {
    await seen(async () => {
      const lease = await stage.client.get(Lease, { namespace: "kube-system", name: "causeway-magnum" });
      expect(["second", "third"]).toContain(lease.spec?.holderIdentity);
    });
  });
});
