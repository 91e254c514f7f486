import { expect } from "vitest";
import type { Answer, CaseGroup, Context, Json } from "../interface.ts";
import { apply, at, causesOf, done, made, refused } from "./shorthands.ts";

const CONTAINER = { name: "c", image: "i" };

/** Pods need the account that kube-controller-manager makes in each namespace. */
async function pod({ api, core }: Context, more: Json = {}, metadata: Json = {}): Promise<Answer> {
  await api.post(core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } });
  const spec = { containers: [CONTAINER], automountServiceAccountToken: false, ...more };
  return api.post(core("pods"), { apiVersion: "v1", kind: "Pod", metadata: { name: "a", ...metadata }, spec });
}

function job(more: Json = {}, metadata: Json = {}): Json {
  const template = { spec: { containers: [CONTAINER], restartPolicy: "Never" } };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name: "a", ...metadata }, spec: { template, ...more } };
}

function deployment(more: Json = {}, metadata: Json = {}): Json {
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [CONTAINER] } };
  const spec = { selector: { matchLabels: { a: "b" } }, template, ...more };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a", ...metadata }, spec };
}

/** Each cause once, sorted, without the difference of two specs. */
function causesOnce(answer: Answer): string[] {
  return [...new Set(causesOf(answer).map((cause) => cause.split("\n")[0] ?? ""))].toSorted();
}

const warnings = ({ headers }: Answer): string =>
  [headers["warning"]].flat().join(", ").replaceAll("299 - ", "").replaceAll("\\", "");

const FIXED =
  "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

export const workloadUpdates: CaseGroup = {
  title: "updates and statuses of workloads",
  cases: [
    {
      name: "an update of a Deployment's status does not change its labels",
      async run({ api, apis }) {
        const labels = { tier: "1" };
        const path = `${apis("apps/v1", "deployments", "a")}/status`;
        await made(api.post(apis("apps/v1", "deployments"), deployment({}, { labels })));
        const bare = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, status: { replicas: 1 } };
        expect(at(await done(api.put(path, bare)), "metadata", "labels")).toEqual(labels);
        const other = { metadata: { labels: { tier: "2" } }, status: { replicas: 2 } };
        expect(at(await done(api.patch(path, "merge", other)), "metadata", "labels")).toEqual(labels);
      },
    },
    {
      name: "a change of a Deployment's annotations increments its generation",
      async run({ api, apis }) {
        const path = apis("apps/v1", "deployments", "a");
        await made(api.post(apis("apps/v1", "deployments"), deployment()));
        const annotations = { metadata: { annotations: { note: "a" } } };
        expect(at(await done(api.patch(path, "merge", annotations)), "metadata", "generation")).toBe(2);
        const labels = { metadata: { labels: { note: "a" } } };
        expect(at(await done(api.patch(path, "merge", labels)), "metadata", "generation")).toBe(2);
        const status = { metadata: { annotations: { note: "b" } } };
        expect(at(await done(api.patch(`${path}/status`, "merge", status)), "metadata", "generation")).toBe(2);
      },
    },
    {
      name: "an unreadable maxUnavailable counts as zero",
      async run({ api, apis }) {
        const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: "" } };
        const answer = await api.post(apis("apps/v1", "deployments"), deployment({ strategy }));
        expect(causesOnce(answer)).toContain(
          'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "": may not be 0 when `maxSurge` is 0',
        );
      },
    },
    {
      name: "an updated pod keeps its node and is validated like a new one",
      async run(c) {
        await made(
          pod(c, { nodeName: "n", activeDeadlineSeconds: 100, tolerations: [{ key: "k", operator: "Exists" }] }),
        );
        const change = async (spec: Json): Promise<string[]> =>
          causesOnce(await c.api.patch(c.core("pods", "a"), "merge", { spec }));
        expect(await change({ nodeName: null })).toEqual([FIXED]);
        expect(await change({ dnsPolicy: "Other" })).toHaveLength(2);
        expect(await change({ activeDeadlineSeconds: 200 })).toEqual([
          "spec.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value",
        ]);
        expect(await change({ activeDeadlineSeconds: null })).toEqual([
          "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value",
        ]);
        expect(await change({ tolerations: [] })).toEqual([
          "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
        ]);
        expect(await change({ schedulingGates: [{ name: "a/b" }] })).toEqual([
          "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a/b'",
        ]);
        // Of what is not a name of an image no tag is known, and so another policy is the default.
        expect(await change({ containers: [{ name: "c", image: " i" }] })).toEqual([
          'spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace',
          FIXED,
        ]);
      },
    },
    {
      name: "a gated pod has reason SchedulingGated, and accepts additions to its nodeSelector only",
      async run(c) {
        const body = await made(pod(c, { schedulingGates: [{ name: "a/b" }], nodeSelector: { x: "y" } }));
        expect(at(body, "status", "conditions", 0)).toMatchObject({ type: "PodScheduled", reason: "SchedulingGated" });
        const path = c.core("pods", "a");
        const other = await c.api.patch(path, "merge", { spec: { nodeSelector: { x: "z" } } });
        expect(causesOnce(other)).toEqual([
          'spec.nodeSelector: Invalid value: {"x":"z"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
        ]);
        const more = { spec: { nodeSelector: { z: "z" } } };
        expect(at(await done(c.api.patch(path, "merge", more)), "spec", "nodeSelector")).toEqual({ x: "y", z: "z" });
        await done(c.api.patch(path, "merge", { spec: { schedulingGates: [] } }));
        expect(causesOnce(await c.api.patch(path, "merge", { spec: { nodeSelector: null } }))).toEqual([FIXED]);
      },
    },
    {
      name: "a negative terminationGracePeriodSeconds of a pod becomes 1, that of a template is kept with a warning",
      async run(c) {
        const body = await made(pod(c, { terminationGracePeriodSeconds: -5 }));
        expect(at(body, "spec", "terminationGracePeriodSeconds")).toBe(1);
        const spec = { containers: [CONTAINER], terminationGracePeriodSeconds: -5 };
        const template = { metadata: { labels: { a: "b" } }, spec };
        const answer = await c.api.post(c.apis("apps/v1", "deployments"), deployment({ template }));
        expect(warnings(answer)).toMatch(/terminationGracePeriodSeconds: must be >= 0; negative values are invalid/);
        expect(at(answer.body, "spec", "template", "spec", "terminationGracePeriodSeconds")).toBe(-5);
      },
    },
    {
      name: "an invalid pod status is rejected with its causes",
      async run(c) {
        await made(pod(c));
        const path = `${c.core("pods", "a")}/status`;
        const change = async (status: Json): Promise<string[]> =>
          causesOnce(await c.api.patch(path, "merge", { status }));
        const condition = { type: "no good", status: "True", observedGeneration: -1 };
        expect(await change({ conditions: [condition] })).toEqual([
          expect.stringMatching(/^status\.conditions\[0\]\.Type: Invalid value: "no good": name part must consist/),
          "status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer",
        ]);
        expect(await change({ podIPs: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] })).toEqual([
          'status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family',
        ]);
        expect(await change({ qosClass: "Guaranteed" })).toEqual([
          'status.qosClass: Invalid value: "Guaranteed": field is immutable',
        ]);
        expect(await change({ hostIPs: [{ ip: "10.0.0.1" }] })).toEqual([
          'status.hostIPs[0].ip: Invalid value: "10.0.0.1": must be equal to `hostIP`',
        ]);
        expect(await change({ resourceClaimStatuses: [{ name: "x" }] })).toEqual([
          'status.resourceClaimStatuses[0].name: Invalid value: "x": must match the name of an entry in `spec.resourceClaims`',
        ]);
        const odd = await c.api.patch(path, "merge", { status: { podIP: "2001:DB8::1" } });
        expect(warnings(odd)).toMatch(/podIPs\[0\]\.ip: IPv6 address "2001:DB8::1" should be in RFC 5952/);
      },
    },
    {
      name: "a terminated container of a pod that is not restarted may not run again; observedGeneration does not decrease",
      async run(c) {
        await made(pod(c, { restartPolicy: "Never" }));
        const path = `${c.core("pods", "a")}/status`;
        const container = (state: Json): Json => {
          const rest = { image: "", imageID: "", ready: false, restartCount: 0 };
          return { status: { containerStatuses: [{ name: "c", state, ...rest }], observedGeneration: 3 } };
        };
        await done(c.api.patch(path, "merge", container({ terminated: { exitCode: 1 } })));
        expect(causesOnce(await c.api.patch(path, "merge", container({ running: {} })))).toEqual([
          "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",
        ]);
        const body = await done(c.api.patch(path, "merge", { status: { observedGeneration: 0 } }));
        expect(at(body, "status", "observedGeneration")).toBe(3);
      },
    },
    {
      name: "removing a Job's spec is rejected with the faults of the defaults; an apply that changes nothing is no write",
      async run({ api, apis }) {
        const path = apis("batch/v1", "jobs", "a");
        await made(apply(api, path, job({}, { labels: { x: "y" } }), "one"));
        const before = at(await done(api.get(path)), "metadata", "resourceVersion");
        const same = await done(apply(api, path, { apiVersion: "batch/v1", kind: "Job" }, "two"));
        expect(at(same, "metadata", "resourceVersion")).toBe(before);
        const fields = causesOnce(await api.patch(path, "merge", { spec: null })).map((cause) => cause.split(":")[0]);
        expect([...new Set(fields)]).toEqual([
          "spec.selector",
          "spec.template.metadata.labels",
          "spec.template.spec.containers",
          "spec.template.spec.restartPolicy",
          "spec.template",
        ]);
      },
    },
    {
      name: "an update of a Job's status without labels sets the labels of its pods",
      async run({ api, apis }) {
        await made(api.post(apis("batch/v1", "jobs"), job()));
        const body = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "a" }, status: { active: 1 } };
        const { metadata } = await done(api.put(`${apis("batch/v1", "jobs", "a")}/status`, body));
        expect(at(metadata, "labels")).toMatchObject({ "job-name": "a" });
      },
    },
    {
      name: "an invalid Job status is rejected with its causes, and finished conditions remain",
      async run({ api, apis }) {
        await made(api.post(apis("batch/v1", "jobs"), job()));
        const path = `${apis("batch/v1", "jobs", "a")}/status`;
        const change = async (status: Json): Promise<string[]> =>
          causesOnce(await api.patch(path, "merge", { status }));
        const is = (...types: readonly string[]): Json[] => types.map((type) => ({ type, status: "True" }));
        expect(await change({ active: 1, ready: 2 })).toEqual([
          "status.ready: Invalid value: 2: cannot set more ready pods than active",
        ]);
        expect(await change({ conditions: is("Complete") })).toEqual([
          "status.completionTime: Required value: completionTime is required for Complete jobs",
          "status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
          "status.startTime: Required value: startTime is required for finished job",
        ]);
        expect(await change({ completedIndexes: "1,x", failedIndexes: "1" })).toEqual([
          'status.completedIndexes: Invalid value: "1,x": cannot set non-empty completedIndexes when non-indexed completion mode',
          'status.completedIndexes: Invalid value: "1,x": error parsing completedIndexes: too large index: "1"',
          'status.failedIndexes: Invalid value: "1": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
        ]);
        const startTime = "2001-01-01T00:00:00Z";
        await done(
          api.patch(path, "merge", { status: { failed: 2, startTime, conditions: is("FailureTarget", "Failed") } }),
        );
        expect(await change({ failed: 1, conditions: [] })).toEqual([
          "status.conditions: Invalid value: cannot disable the terminal Failed=True condition",
          "status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition",
          "status.failed: Invalid value: 1: cannot decrease the failed counter",
        ]);
        expect(await change({ startTime: null })).toContain(
          "status.startTime: Required value: startTime cannot be removed for unsuspended job",
        );
      },
    },
    {
      name: "a resource list of another type is rejected with type v1.ResourceList",
      async run(c) {
        const answer = await pod(c, { overhead: 7 });
        refused(answer, 400, "BadRequest", /field PodSpec\.spec\.overhead of type v1\.ResourceList$/);
      },
    },
    {
      name: "a body in a removed version is rejected as another version, not as an unknown kind",
      async run({ api, apis, core }) {
        const body = { ...deployment(), apiVersion: "apps/v1beta1" };
        const why = "the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)";
        refused(await api.post(apis("apps/v1", "deployments"), body), 400, "BadRequest", why);
        const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } };
        const other = await apply(api, core("configmaps", "a"), secret, "one");
        refused(other, 400, "BadRequest", "invalid object type: /v1, Kind=Secret");
      },
    },
    {
      name: "an applied number that does not fit into 64 bits becomes 0",
      async run({ api, apis }) {
        const path = apis("apps/v1", "deployments", "a");
        const text = JSON.stringify(deployment({ replicas: 5 })).replace(
          '"replicas":5',
          '"replicas":-99999999999999999999',
        );
        expect(at(await made(apply(api, path, text, "one")), "spec", "replicas")).toBe(0);
      },
    },
  ],
};
