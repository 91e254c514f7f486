/** Rules of Magnum's that hold for every kind of request. */
import { MagnumCluster } from "@causeway/api";
import { silentLog } from "@causeway/foundation";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createCloudChecker } from "./access/cloud-checks.ts";
import { openStage, type Json, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

let stage: Stage;
let template: unknown;

const create = async (who: string, name: string): Promise<string> => {
  const body = { name, cluster_template_id: template, node_count: 1 };
  const made = await stage.call(who, "POST", "/v1/clusters", { body });
  expect([made.status, made.body], name).toEqual([202, { uuid: expect.any(String) as string }]);
  return String(made.body["uuid"]);
};

const detailOf = ({ body }: { readonly body: Json }): string => JSON.stringify(body);

beforeAll(async () => {
  stage = await openStage({ rate: { perSecond: 1_000, burst: 1_000 } });
  const body = {
    name: "t",
    coe: "kubernetes",
    image_id: "cirros",
    flavor_id: "m1.small",
    external_network_id: "public",
  };
  template = (await stage.call("admin", "POST", "/v1/clustertemplates", { body: { ...body, public: true } })).body[
    "uuid"
  ];
});
afterAll(() => stage.close());

describe("a quota", () => {
  test("is refused for a project that Keystone does not have, in Magnum's words", async () => {
    const refused = await stage.call("admin", "POST", "/v1/quotas", { body: { project_id: "no-such-project" } });
    expect([refused.status, detailOf(refused)]).toEqual([
      404,
      expect.stringContaining("The project_id no-such-project could not be found."),
    ]);
    const listed = await stage.call("admin", "GET", "/v1/quotas?all_tenants=True");
    expect(listed.body["quotas"]).toEqual([]);
  });

  test.for<[string, boolean, string]>([
    ["admin", false, "is refused for a caller who may read projects"],
    ["demo", true, "is accepted for a caller whom Keystone refuses to read projects"],
    ["no user", true, "is accepted where Keystone does not take the token"],
  ])("of an unknown project, by the token of %s (%s), %s", async ([who, expected]) => {
    const address = { name: "simulator", authUrl: stage.simulator.authUrl };
    const cloud = createCloudChecker(address, silentLog);
    const { signal } = new AbortController();
    expect(await cloud.hasProject(stage.tokens.get(who) ?? "none", "no-such-project", signal)).toBe(expected);
  });
});

describe("arguments that a request does not have", () => {
  test.for<[string, string, unknown?]>([
    ["GET", "/v1/clusters/x"],
    ["POST", "/v1/clusters", {}],
    ["PATCH", "/v1/clusters/x", []],
    ["DELETE", "/v1/clusters/x"],
    ["POST", "/v1/clusters/x/actions/resize", { node_count: 1 }],
    ["POST", "/v1/clusters/x/actions/upgrade", { cluster_template: "x" }],
    ["GET", "/v1/clusters/x/nodegroups"],
    ["POST", "/v1/clusters/x/nodegroups", { name: "g" }],
    ["GET", "/v1/clusters/x/nodegroups/g"],
    ["PATCH", "/v1/clusters/x/nodegroups/g", []],
    ["DELETE", "/v1/clusters/x/nodegroups/g"],
    ["GET", "/v1/clustertemplates/x"],
    ["POST", "/v1/clustertemplates", {}],
    ["PATCH", "/v1/clustertemplates/x", []],
    ["DELETE", "/v1/clustertemplates/x"],
    ["GET", "/v1/certificates/x"],
    ["POST", "/v1/certificates", {}],
    ["PATCH", "/v1/certificates/x"],
    ["PATCH", "/v1/credentials/x"],
    ["GET", "/v1/quotas"],
    ["POST", "/v1/quotas", {}],
    ["GET", "/v1/quotas/p/Cluster"],
    ["PATCH", "/v1/quotas/p/Cluster", {}],
    ["DELETE", "/v1/quotas/p/Cluster"],
    ["GET", "/v1/stats"],
    ["GET", "/v1/mservices"],
    ["GET", "/v1/federations"],
  ])("of %s %s are refused by name", async ([method, path, body]) => {
    const reply = await stage.call("admin", method, `${path}?x=1`, body === undefined ? {} : { body });
    expect([reply.status, detailOf(reply)]).toEqual([400, expect.stringContaining('Unknown argument: \\"x\\"')]);
  });
});

test("a resize by name means the cluster of the caller's project, and else the only one of that name", async () => {
  const uuids = {
    both: await create("demo", "both"),
    own: await create("admin", "both"),
    only: await create("demo", "only"),
  };
  const { items } = await stage.client.list(MagnumCluster, {});
  /** Which cluster it was is seen by its node group: that of another is not found. */
  const resize = async (name: string, of: keyof typeof uuids): Promise<string> => {
    const nodegroup = items.find(({ spec }) => spec.uuid === uuids[of])?.spec.nodeGroups[0]?.uuid;
    const body = { node_count: 2, nodegroup };
    return detailOf(await stage.call("admin", "POST", `/v1/clusters/${name}/actions/resize`, { body }));
  };
  expect((await stage.call("admin", "GET", "/v1/clusters/both")).status).toBe(409);
  expect(await resize("both", "own")).toMatch(/Cluster both already has an operation in progress/);
  expect(await resize("both", "both")).toMatch(/Nodegroup .* could not be found/i);
  expect(await resize("only", "only")).toMatch(/Cluster only already has an operation in progress/);
});

test("the link to the next page of node groups keeps the role, with which it leads to the next one of it", async () => {
  const uuid = await create("demo", "pages");
  const groups = `/v1/clusters/${uuid}/nodegroups`;
  const first = await stage.call("demo", "GET", `${groups}?role=worker&limit=1`);
  expect(first.body["next"]).toMatch(/\?role=worker&sort_key=id&sort_dir=asc&limit=1&marker=/);
  const { pathname, search } = new URL(String(first.body["next"]));
  expect((await stage.call("demo", "GET", pathname + search)).body["nodegroups"]).toEqual([]);
});

test("a number with a fraction is no value of a patch", async () => {
  const uuid = await create("demo", "fraction");
  const patch = (value: unknown) =>
    stage.call("demo", "PATCH", `/v1/clusters/${uuid}`, { body: [{ op: "replace", path: "/node_count", value }] });
  const refused = await patch(1.9);
  expect([refused.status, detailOf(refused)]).toEqual([
    400,
    expect.stringContaining(
      "Value: '1.9'. Wrong type. Expected '(<class 'str'>, <class 'int'>)', got '<class 'float'>'",
    ),
  ]);
});
