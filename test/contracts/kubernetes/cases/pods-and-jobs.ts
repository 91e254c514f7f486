import { expect } from "vitest";
import type { CaseGroup, Context, Json } from "../interface.ts";
import { apply, at, causesOf, done, gone, made, refused } from "./shorthands.ts";

const WHY = "field is immutable";

/** Pods need the account that kube-controller-manager makes in each namespace. */
async function pod({ api, core }: Context, more: Json = {}, metadata: Json = {}): Promise<string> {
  await api.post(core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } });
  const spec = { containers: [{ name: "c", image: "i" }], ...more };
  await made(api.post(core("pods"), { apiVersion: "v1", kind: "Pod", metadata: { name: "a", ...metadata }, spec }));
  return core("pods", "a");
}

function job(more: Json = {}): Json {
  const template = { spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" } };
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name: "a" }, spec: { template, ...more } };
}

const withoutValue = (cause: string): string => cause.replace(/Invalid value: .*?: (?=field is|`selector`)/s, "");

const ports = (...numbers: readonly Json[]): Json[] => numbers.map((port) => ({ containerPort: 80, ...port }));

export const podsAndJobs: CaseGroup = {
  title: "pods and Jobs: defaults and updates",
  cases: [
    {
      name: "podIP and the first of podIPs are equal; podIP decides",
      async run(c) {
        const path = `${await pod(c)}/status`;
        const addresses = async (status: Json): Promise<unknown> => {
          const { podIP, podIPs } = (await done(c.api.patch(path, "merge", { status })))["status"] as Json;
          return { podIP, podIPs };
        };
        const [one, two] = ["10.0.0.1", "10.0.0.2"];
        expect(await addresses({ podIP: one })).toEqual({ podIP: one, podIPs: [{ ip: one }] });
        expect(await addresses({ podIPs: [{ ip: two }] })).toEqual({ podIP: one, podIPs: [{ ip: one }] });
        expect(await addresses({ podIP: null, podIPs: [{ ip: two }] })).toEqual({ podIP: two, podIPs: [{ ip: two }] });
      },
    },
    {
      name: "an update of a pod's status changes neither owners nor QoS class",
      async run(c) {
        const path = await pod(c);
        const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "b", uid: "c" }];
        const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", ownerReferences }, status: {} };
        const { metadata, status } = await done(c.api.put(`${path}/status`, body));
        expect(metadata).not.toHaveProperty("ownerReferences");
        expect(status).toEqual({ qosClass: "BestEffort" });
      },
    },
    {
      name: "a pod gets a deletionTimestamp before it is removed",
      async run(c) {
        const path = await pod(c);
        const list = await done(c.api.get(c.core("pods")));
        const events: Json[] = [];
        const from = String(at(list, "metadata", "resourceVersion"));
        const watch = await c.api.watch(`${c.core("pods")}?watch=1&resourceVersion=${from}`, (e) => events.push(e));
        const { metadata } = await done(c.api.delete(path));
        expect(metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 });
        await gone(c.api, path);
        await expect.poll(() => events.map((e) => e["type"])).toEqual(["MODIFIED", "DELETED"]);
        watch.close();
      },
    },
    {
      name: "a second deletion shortens the grace period of a pod without a new generation",
      async run(c) {
        const path = await pod(c, { nodeName: "n" });
        const first = await done(c.api.delete(path));
        const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 };
        const second = await done(c.api.delete(path, body));
        expect([first, second].map((o) => at(o, "metadata", "deletionGracePeriodSeconds"))).toEqual([30, 0]);
        expect(at(second, "metadata", "generation")).toBe(at(first, "metadata", "generation"));
      },
    },
    {
      name: "duplicate container ports get warnings",
      async run({ api, apis }) {
        const containers = [
          { name: "a", image: "i", ports: ports({}, { containerPort: 81, name: "x" }) },
          {
            name: "b",
            image: "i",
            ports: ports({}, { containerPort: 82, name: "x" }, { containerPort: 81, hostPort: 8 }),
          },
        ];
        const body = job({ template: { spec: { containers, restartPolicy: "Never" } } });
        const { headers } = await api.post(apis("batch/v1", "jobs"), body);
        const place = (i: number, j: number): string => `spec.template.spec.containers[${i}].ports[${j}]`;
        expect([headers["warning"]].flat().join(", ").replaceAll("\\", "")).toBe(
          [
            `${place(1, 0)}: duplicate port definition with ${place(0, 0)}`,
            `${place(1, 2)}: overlapping port definition with ${place(0, 1)}`,
            `${place(1, 1)}: duplicate port name "x" with ${place(0, 1)}, services and probes that select ports by name will use ${place(0, 1)}`,
          ]
            .map((warning) => `299 - "${warning}"`)
            .join(", "),
        );
      },
    },
    {
      name: "the selector and template labels of a Job are immutable",
      async run({ api, apis }) {
        const path = apis("batch/v1", "jobs", "a");
        await made(api.post(apis("batch/v1", "jobs"), job()));
        const missing = await api.patch(path, "merge", { spec: { selector: null } });
        // Some of a job's rules run twice.
        expect([...new Set(causesOf(missing).map(withoutValue))].toSorted()).toEqual([
          "spec.selector: Required value",
          `spec.selector: ${WHY}`,
          "spec.template.metadata.labels: `selector` does not match template `labels`",
        ]);
        const other = await api.patch(path, "merge", { spec: { selector: { matchLabels: { a: "b" } } } });
        expect([...new Set(causesOf(other).map(withoutValue))].toSorted()).toEqual([
          "spec.selector: `selector` not auto-generated",
          `spec.selector: ${WHY}`,
          "spec.template.metadata.labels: `selector` does not match template `labels`",
        ]);
        const bare = await api.patch(path, "merge", { spec: { template: { metadata: { labels: null } } } });
        expect(causesOf(bare).filter((cause) => cause.includes("must be")).length).toBe(4);
      },
    },
    {
      name: "a Job with a selector is rejected unless manualSelector is set",
      async run({ api, apis }) {
        const selector = { matchLabels: { a: "b" } };
        const answer = await api.post(apis("batch/v1", "jobs"), job({ selector }));
        expect(causesOf(answer).map(withoutValue)).toContain("spec.selector: `selector` not auto-generated");
      },
    },
    {
      name: "a suspended Job's template accepts scheduling directives; an Indexed Job's completions change with parallelism",
      async run({ api, apis }) {
        const path = apis("batch/v1", "jobs", "a");
        await made(
          api.post(apis("batch/v1", "jobs"), job({ suspend: true, completions: 2, completionMode: "Indexed" })),
        );
        const nodeSelector = { disk: "ssd" };
        await done(api.patch(path, "merge", { spec: { template: { spec: { nodeSelector } } } }));
        const apart = await api.patch(path, "merge", { spec: { completions: 4 } });
        const tandem = "can only be modified in tandem with spec.parallelism";
        refused(apart, 422, "Invalid", `Job.batch "a" is invalid: spec.completions: Invalid value: 4: ${tandem}`);
        await done(api.patch(path, "merge", { spec: { completions: 4, parallelism: 4 } }));
        await done(api.patch(path, "merge", { spec: { suspend: false } }));
        const late = await api.patch(path, "merge", {
          spec: { template: { spec: { nodeSelector: null } } },
        });
        expect(causesOf(late).map(withoutValue)).toEqual([`spec.template: ${WHY}`]);
      },
    },
    {
      name: "the message of a selector mismatch shows empty labels as {}",
      async run({ api, apis }) {
        const template = { metadata: { labels: {} }, spec: { containers: [{ name: "c", image: "i" }] } };
        const spec = { selector: { matchLabels: { a: "b" } }, template };
        const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec };
        const why = "spec.template.metadata.labels: Invalid value: {}: `selector` does not match template `labels`";
        expect(causesOf(await api.post(apis("apps/v1", "deployments"), body))).toEqual([why]);
        expect(causesOf(await apply(api, apis("apps/v1", "deployments", "a"), body, "one"))).toEqual([why]);
      },
    },
    {
      name: "a template with hostNetwork needs no host ports; a Deployment's status counts no more replicas than exist",
      async run({ api, apis }) {
        const containers = [{ name: "c", image: "i", ports: ports({}) }];
        const template = { metadata: { labels: { a: "b" } }, spec: { hostNetwork: true, containers } };
        const spec = { selector: { matchLabels: { a: "b" } }, template };
        const body = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec };
        await made(api.post(apis("apps/v1", "deployments"), body));
        const path = `${apis("apps/v1", "deployments", "a")}/status`;
        const status = { replicas: 1, readyReplicas: 2, availableReplicas: 3, collisionCount: -1 };
        expect(causesOf(await api.patch(path, "merge", { status })).toSorted()).toEqual([
          "status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas",
          "status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas",
          "status.collisionCount: Invalid value: -1: must be greater than or equal to 0",
          "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
        ]);
      },
    },
    {
      name: "an invalid label selector is reported before invalid options of a deletion of a collection",
      async run({ api, apis }) {
        const options = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Sideways" };
        const answer = await api.delete(`${apis("batch/v1", "jobs")}?labelSelector=((`, options);
        refused(answer, 400, "BadRequest", /^found '\('/);
        expect(answer.headers["warning"]).toBeUndefined();
      },
    },
  ],
};
