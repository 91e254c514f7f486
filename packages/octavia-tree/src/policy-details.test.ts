import { expect, test } from "vitest";
import type { Cloud, L7Policy, Listener } from "@causeway/openstack";
import { PolicyDetails } from "./policy-details.ts";

const policy = (listener: string): L7Policy =>
  ({
    id: `p-${listener}`,
    name: "by hand",
    listener_id: listener,
    rules: [],
    provisioning_status: "ACTIVE",
  }) as unknown as L7Policy;
const listener = (id: string): Listener =>
  ({ id, l7policies: [{ id: `p-${id}` }], updated_at: null, provisioning_status: "ACTIVE" }) as unknown as Listener;

/** A cloud with a policy for each listener; `queries` are those of its lists. */
function cloudOf(ids: readonly string[], queries: object[]): Cloud {
  const all = async (query: { listener_id?: string }): Promise<L7Policy[]> => {
    queries.push(query);
    return ids.filter((id) => query.listener_id === undefined || id === query.listener_id).map(policy);
  };
  const l7Rules = () => ({ all: async () => [] });
  return { loadBalancing: { l7Policies: { all }, l7Rules }, projectId: async () => "project" } as unknown as Cloud;
}

const { signal } = new AbortController();

test("the reader of L7 policies reads the policies of one listener by its own list, and not again while its entry is the same", async () => {
  const queries: object[] = [];
  const details = new PolicyDetails(cloudOf(["a", "b"], queries));
  for (let i = 0; i < 2; i += 1)
    expect((await details.of(listener("a"), signal)).map((each) => each.policy.id)).toEqual(["p-a"]);
  expect(queries).toEqual([{ listener_id: "a" }]);
});

test("the reader of L7 policies reads those of many listeners by one list of the project", async () => {
  const queries: object[] = [];
  const ids = ["a", "b", "c", "d"];
  const details = new PolicyDetails(cloudOf(ids, queries));
  const found = await Promise.all(ids.map((id) => details.of(listener(id), signal)));
  expect(found.map(([first]) => first?.policy.id)).toEqual(ids.map((id) => `p-${id}`));
  expect(queries).toEqual([{ project_id: "project" }]);
});

test("the reader of L7 policies rejects each of its callers when the list fails, and lists again for the next", async () => {
  const queries: object[] = [];
  const good = cloudOf(["a"], queries);
  let fails = true;
  const all = async (query: object): Promise<L7Policy[]> => {
    if (fails) throw new Error("503");
    return good.loadBalancing.l7Policies.all(query as { listener_id: string });
  };
  const details = new PolicyDetails({
    ...good,
    loadBalancing: { l7Policies: { all }, l7Rules: () => ({ all: async () => [] }) },
  } as unknown as Cloud);
  const both = ["a", "b"].map((id) => details.of(listener(id), signal));
  await expect(Promise.all(both)).rejects.toThrow("503");
  fails = false;
  expect(await details.of(listener("a"), signal)).toHaveLength(1);
});

test("a list of the project serves every listener that was known when it began and has not changed since", async () => {
  const queries: object[] = [];
  const ids = ["a", "b", "c", "d", "e"];
  const details = new PolicyDetails(cloudOf(ids, queries), () => ids.map(listener));
  await Promise.all(["a", "b", "c"].map((id) => details.of(listener(id), signal)));
  expect((await details.of(listener("d"), signal)).map((each) => each.policy.id)).toEqual(["p-d"]);
  expect(queries).toEqual([{ project_id: "project" }]);
  details.forget("d");
  await details.of(listener("d"), signal);
  await details.of({ ...listener("e"), updated_at: "2026-01-01T00:00:00" }, signal);
  expect(queries).toEqual([{ project_id: "project" }, { listener_id: "d" }, { listener_id: "e" }]);
});

test("a list of the project says nothing of a listener whose policies are changed while it is under way", async () => {
  const queries: object[] = [];
  const ids = ["a", "b", "c", "d"];
  const details = new PolicyDetails(cloudOf(ids, queries), () => ids.map(listener));
  const many = Promise.all(["a", "b", "c"].map((id) => details.of(listener(id), signal)));
  await new Promise((done) => setImmediate(done));
  const late = details.of(listener("d"), signal);
  details.forget("d");
  await Promise.all([many, late]);
  expect(queries).toContainEqual({ listener_id: "d" });
});
