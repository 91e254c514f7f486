import { expect } from "vitest";
import type { Answer, CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { at, done, gone, made, refused } from "./shorthands.ts";

const POLICY = "policy/v1";
const READY = { type: "Ready", status: "True" };

/** A pod of the app "guarded" that a kubelet says runs. */
async function running(c: Context, name: string, status: Json = { conditions: [READY] }): Promise<Json> {
  await c.api.post(c.core("serviceaccounts"), {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "default" },
  });
  const spec = { containers: [{ name: "c", image: "i" }], automountServiceAccountToken: false };
  const metadata = { name, labels: { app: "guarded" } };
  await made(c.api.post(c.core("pods"), { apiVersion: "v1", kind: "Pod", metadata, spec }));
  return done(c.api.patch(`${c.core("pods", name)}/status`, "strategic", { status: { phase: "Running", ...status } }));
}

interface Budget {
  readonly name?: string;
  readonly spec?: Json;
  readonly status?: Json;
}

/** A budget as a controller has filled it in. */
async function budget(c: Context, { name = "guard", spec = {}, status = {} }: Budget): Promise<void> {
  const path = c.apis(POLICY, "poddisruptionbudgets");
  const body = { minAvailable: 1, selector: { matchLabels: { app: "guarded" } }, ...spec };
  await made(c.api.post(path, { apiVersion: POLICY, kind: "PodDisruptionBudget", metadata: { name }, spec: body }));
  const counts = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, ...status };
  const said = { status: { observedGeneration: 1, ...counts } };
  await done(c.api.patch(`${path}/${name}/status`, "merge", said));
}

function evict(c: Context, name: string, more: Json = {}, query = ""): Promise<Answer> {
  const body = { apiVersion: POLICY, kind: "Eviction", metadata: { name }, ...more };
  return c.api.post(`${c.core("pods", name)}/eviction${query}`, body);
}

const statusOf = async (c: Context, name = "guard"): Promise<Json> =>
  (await done(c.api.get(c.apis(POLICY, "poddisruptionbudgets", name))))["status"] as Json;

const REFUSED = "Cannot evict pod as it would violate the pod's disruption budget.";

function refusedBy(answer: Answer, why: string, retry?: string): void {
  refused(answer, 429, "TooManyRequests", REFUSED);
  expect(at(answer.body, "details", "causes")).toEqual([{ reason: "DisruptionBudget", message: why }]);
  expect(answer.headers["retry-after"]).toBe(retry);
}

async function evicted(answer: Promise<Answer>): Promise<void> {
  const { code, body } = await answer;
  expect({ code, body }).toEqual({
    code: 201,
    body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 },
  });
}

const cases: ContractCase[] = [
  {
    name: "an eviction without a disruption budget sets condition DisruptionTarget and deletes the pod",
    async run(c) {
      await running(c, "a");
      const watch = await c.api.watch(`${c.core("pods")}?watch=true&fieldSelector=metadata.name=a`);
      const [first] = await watch.take(1);
      expect(first).toMatchObject({ type: "ADDED" });
      await evicted(evict(c, "a"));
      const [marked] = await watch.take(1);
      expect(at(marked, "object", "status", "conditions")).toContainEqual({
        type: "DisruptionTarget",
        status: "True",
        reason: "EvictionByEvictionAPI",
        message: "Eviction API: evicting",
        lastProbeTime: null,
        lastTransitionTime: expect.any(String) as unknown,
      });
      // kube-apiserver shows a pod that is given no time to end once more before it goes.
      let [last] = await watch.take(1);
      if (last?.["type"] === "MODIFIED") [last] = await watch.take(1);
      watch.close();
      expect(last).toMatchObject({ type: "DELETED" });
    },
  },
  {
    name: "a budget with nothing left refuses, with a cause",
    async run(c) {
      await running(c, "a");
      await budget(c, {});
      refusedBy(await evict(c, "a"), "The disruption budget guard needs 1 healthy pods and has 1 currently");
      await done(c.api.get(c.core("pods", "a")));
    },
  },
  {
    name: "a budget that its controller has not reconciled since it was changed refuses, and says when to ask again",
    async run(c) {
      await running(c, "a");
      await budget(c, { status: { observedGeneration: 0, disruptionsAllowed: 1 } });
      refusedBy(await evict(c, "a"), "The disruption budget guard is still being processed by the server.", "10");
    },
  },
  {
    name: "a budget is charged: one disruption less, and the pod's name with the time",
    async run(c) {
      await running(c, "a");
      await running(c, "b");
      await budget(c, { status: { disruptionsAllowed: 2, currentHealthy: 3 } });
      await evicted(evict(c, "a"));
      const after = await statusOf(c);
      expect(after).toMatchObject({ disruptionsAllowed: 1, disruptedPods: { a: expect.stringMatching(/^20.*Z$/) } });
      expect(after["conditions"]).toBeUndefined();
      await evicted(evict(c, "b"));
      const last = await statusOf(c);
      expect(last).toMatchObject({
        disruptionsAllowed: 0,
        disruptedPods: { a: expect.any(String), b: expect.any(String) },
      });
      expect(last["conditions"]).toEqual([
        {
          type: "DisruptionAllowed",
          status: "False",
          observedGeneration: 1,
          reason: "InsufficientPods",
          message: "",
          lastTransitionTime: expect.any(String) as unknown,
        },
      ]);
    },
  },
  {
    name: "a dry run is judged, and neither deletes nor charges",
    async run(c) {
      await running(c, "a");
      await budget(c, { status: { disruptionsAllowed: 1 } });
      await evicted(evict(c, "a", {}, "?dryRun=All"));
      await evicted(evict(c, "a", { deleteOptions: { dryRun: ["All"] } }));
      expect(await statusOf(c)).toMatchObject({ disruptionsAllowed: 1 });
      expect(at((await c.api.get(c.core("pods", "a"))).body, "status", "conditions")).toHaveLength(1);
      await done(
        c.api.patch(`${c.apis(POLICY, "poddisruptionbudgets", "guard")}/status`, "merge", {
          status: { disruptionsAllowed: 0 },
        }),
      );
      refusedBy(
        await evict(c, "a", {}, "?dryRun=All"),
        "The disruption budget guard needs 1 healthy pods and has 1 currently",
      );
    },
  },
  {
    name: "a pod that has ended, or never ran, goes whatever the budget says",
    async run(c) {
      await budget(c, {});
      await running(c, "ended", { phase: "Succeeded" });
      await running(c, "waiting", { phase: "Pending" });
      await evicted(evict(c, "ended"));
      await evicted(evict(c, "waiting"));
      await gone(c.api, c.core("pods", "waiting"));
      expect(await statusOf(c)).toMatchObject({ disruptionsAllowed: 0 });
    },
  },
  {
    name: "a pod that is not ready goes uncharged where enough others are healthy",
    async run(c) {
      await running(c, "a", {});
      await budget(c, { status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 } });
      await evicted(evict(c, "a"));
      expect((await statusOf(c))["disruptedPods"]).toBeUndefined();
    },
  },
  {
    name: "a pod that is not ready remains where too few are healthy, unless the policy is AlwaysAllow",
    async run(c) {
      await running(c, "a", {});
      await budget(c, { status: { currentHealthy: 0 } });
      refusedBy(await evict(c, "a"), "The disruption budget guard needs 1 healthy pods and has 0 currently");
      const policy = { spec: { unhealthyPodEvictionPolicy: "AlwaysAllow" } };
      await done(c.api.patch(c.apis(POLICY, "poddisruptionbudgets", "guard"), "merge", policy));
      await evicted(evict(c, "a"));
    },
  },
  {
    name: "two budgets for one pod are an error of the server",
    async run(c) {
      await running(c, "a");
      await budget(c, { status: { disruptionsAllowed: 1 } });
      await budget(c, { name: "second", status: { disruptionsAllowed: 1 } });
      const { code, body } = await evict(c, "a");
      expect({ code, body }).toMatchObject({
        code: 500,
        body: {
          status: "Failure",
          message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
          code: 500,
        },
      });
    },
  },
  {
    name: "preconditions of the deletion hold",
    async run(c) {
      const before = await running(c, "a");
      const uid = await evict(c, "a", { deleteOptions: { preconditions: { uid: "other" } } });
      refused(uid, 409, "Conflict", /the UID in the precondition \(other\) does not match the UID in record/);
      const version = String(at(before, "metadata", "resourceVersion"));
      await done(c.api.patch(c.core("pods", "a"), "merge", { metadata: { labels: { x: "y" } } }));
      const old = await evict(c, "a", { deleteOptions: { preconditions: { resourceVersion: version } } });
      refused(old, 409, "Conflict", /the ResourceVersion in the precondition/);
      const now = String(at((await c.api.get(c.core("pods", "a"))).body, "metadata", "resourceVersion"));
      await evicted(evict(c, "a", { deleteOptions: { preconditions: { resourceVersion: now } } }));
    },
  },
  {
    name: "a budget without a selector guards nothing, one with an empty selector everything",
    async run(c) {
      await running(c, "a");
      await running(c, "b");
      await budget(c, { spec: { selector: null } });
      await evicted(evict(c, "a"));
      await budget(c, { name: "all", spec: { selector: {} } });
      refusedBy(await evict(c, "b"), "The disruption budget all needs 1 healthy pods and has 1 currently");
    },
  },
  {
    name: "no such pod is 404, another name than the path's 400",
    async run(c) {
      refused(await evict(c, "none"), 404, "NotFound", 'pods "none" not found');
      await running(c, "a");
      const body = { apiVersion: POLICY, kind: "Eviction", metadata: { name: "b" } };
      const answer = await c.api.post(`${c.core("pods", "a")}/eviction`, body);
      refused(answer, 400, "BadRequest");
    },
  },
];

export const evicting: CaseGroup = { title: "evictions", cases };
