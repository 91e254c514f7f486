/**
 * Lists of 1,500 clusters by the Magnum API, page by page, while a hundred of them are deleted through it: each that
 * remains is seen exactly once, in every order of ids, by its project and by the administrator.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { MagnumCluster } from "@causeway/api";
import { Namespace } from "@causeway/kubernetes";
import { namespaceOf, objectNameOf } from "@causeway/magnum-api";
import { openStage, type Stage } from "@causeway/magnum-api/testing";
import { issueToken, loadCloudsYaml } from "@causeway/openstack";
import { eventually } from "../../support/processes.ts";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 600_000 });

const COUNT = 1_500;
const uuidOf = (at: number): string => `01980000-0000-7000-8000-${at.toString(16).padStart(12, "0")}`;

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ rate: { perSecond: 10_000, burst: 10_000 } });
  const config = loadCloudsYaml({ cloud: "simulator", text: stage.simulator.cloudsYaml });
  const { projectId = "" } = await issueToken(config);
  const name = namespaceOf(projectId);
  await stage.client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < COUNT) await stage.client.create(MagnumCluster, clusterOf(next++, projectId));
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  await eventually(120_000, async () => Number((await call("GET", "/v1/stats")).body["clusters"]) === COUNT);
});

afterAll(() => stage.close());

const call = (method: string, path: string, who = "demo") => stage.call(who, method, path, { version: "1.10" });

function clusterOf(at: number, projectID: string): MagnumCluster {
  const [uuid, name, version] = [uuidOf(at), `c${(at * 7919) % COUNT}`, "v1.34.0"];
  return {
    apiVersion: "magnum.causeway.dev/v1alpha1",
    kind: "MagnumCluster",
    metadata: {
      name: objectNameOf(name, uuid.replace("01980000-0000", uuid.slice(-12))),
      namespace: namespaceOf(projectID),
      labels: { "magnum.causeway.dev/uuid": uuid },
    },
    spec: {
      uuid,
      name,
      projectID,
      userID: "someone",
      templateUUID: uuidOf(COUNT),
      template: {
        coe: "kubernetes",
        imageID: "cirros",
        tlsDisabled: false,
        public: false,
        registryEnabled: false,
        serverType: "vm",
        masterLBEnabled: false,
        floatingIPEnabled: true,
        hidden: false,
      },
      version,
      masterCount: 1,
      masterUUID: uuidOf(COUNT + 1 + at),
      createTimeout: 0,
      floatingIPEnabled: true,
      masterLBEnabled: false,
      nodeGroups: [],
    },
  };
}

/** Follows the links from a first path to the last page; `between` is called with each page's ids. */
async function walk(path: string, who: string, between: (ids: readonly string[]) => Promise<void>): Promise<string[]> {
  const seen: string[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const { status, body } = await call("GET", next, who);
    expect(status, next).toBe(200);
    const ids = (body["clusters"] as readonly { uuid: string }[]).map(({ uuid }) => uuid);
    seen.push(...ids);
    await between(ids);
    const link: unknown = body["next"];
    next = typeof link === "string" ? link.replace(/^https?:\/\/[^/]+/, "") : undefined;
  }
  return seen;
}

describe("pages of 1,500 clusters", () => {
  it.each([
    ["demo", "/v1/clusters"],
    ["demo", "/v1/clusters/detail?limit=500"],
    ["admin", "/v1/clusters?limit=999&sort_dir=desc"],
    ["demo", "/v1/clusters?limit=400&sort_key=name"],
  ])("to %s, %s shows each once", async (who, path) => {
    const seen = await walk(path, who, async () => {});
    expect(seen.toSorted()).toEqual(Array.from({ length: COUNT }, (_, at) => uuidOf(at)));
  });

  it("a page has at most 1,000, and the next link is left out at the end", async () => {
    const { body } = await call("GET", "/v1/clusters?limit=5000");
    expect(body["clusters"]).toHaveLength(1_000);
    const rest = await call("GET", String(body["next"]).replace(/^https?:\/\/[^/]+/, ""));
    expect(rest.body["clusters"]).toHaveLength(COUNT - 1_000);
    expect(rest.body).not.toHaveProperty("next");
  });

  it("each cluster that remains is shown once while others are deleted, markers among them", async () => {
    const gone = new Set<string>();
    const remove = async (uuid: string): Promise<void> => {
      gone.add(uuid);
      expect((await call("DELETE", `/v1/clusters/${uuid}`)).status).toBe(204);
    };
    let page = 0;
    const seen = await walk("/v1/clusters?limit=100", "demo", async (ids) => {
      const [first = "", last = ""] = [ids[0], ids.at(-1)];
      const at = (page += 1) * 100;
      // One that was seen, the marker of the next page, and four that would come next.
      const ahead = [0, 1, 50, 99].map((more) => uuidOf(at + more)).filter((uuid) => uuid < uuidOf(COUNT));
      for (const uuid of [first, last, ...ahead]) if (!gone.has(uuid)) await remove(uuid);
      // The row of the marker is really gone, not only marked for deletion.
      await eventually(60_000, async () => (await call("GET", `/v1/clusters/${last}`)).status === 404);
    });
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(seen.toSorted());
    const stay = Array.from({ length: COUNT }, (_, at) => uuidOf(at)).filter((uuid) => !gone.has(uuid));
    expect(stay.filter((uuid) => !seen.includes(uuid))).toEqual([]);
    expect(gone.size).toBeGreaterThan(60);
    expect((await walk("/v1/clusters", "demo", async () => {})).toSorted()).toEqual(stay);
  });
});
