import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { at, eventually, invalid, made, refused } from "./shorthands.ts";

/** A name of its own for each of a case's objects. */
const nameOf = (c: Context): string => `${c.unique("o")}-${randomUUID().slice(0, 8)}`;

const template = (labels: Json): Json => ({
  metadata: { labels },
  spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" },
});
const UID = "batch.kubernetes.io/controller-uid";
const JOB_NAME = "batch.kubernetes.io/job-name";

const postJob = (c: Context, name: string, spec: Json) =>
  c.api.post(c.apis("batch/v1", "jobs"), { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec });

const jobs: ContractCase[] = [
  {
    name: "a job's own selector is refused, unless it says that it has one",
    async run(c) {
      const ask = (spec: Json) => postJob(c, nameOf(c), spec);
      const own = { matchLabels: { a: "b" } };
      const mixed = await ask({ template: template({ a: "b" }), selector: own });
      const uid = /"batch.kubernetes.io\/controller-uid":"([^"]+)"/.exec(String(mixed.body["message"]))?.[1] ?? "";
      const shown = JSON.stringify({ matchLabels: { a: "b", [UID]: uid } });
      invalid(mixed, `spec.selector: Invalid value: ${shown}: \`selector\` not auto-generated`);
      const mismatched = await ask({ template: template({}), selector: own });
      expect(at(mismatched.body, "details", "causes")).toHaveLength(2);
      expect(String(mismatched.body["message"])).toMatch(
        /not auto-generated.*`selector` does not match template `labels`/,
      );
      await made(ask({ template: template({ a: "b" }), selector: own, manualSelector: true }));
      const empty = await made(ask({ template: template({}), selector: { matchLabels: {} } }));
      expect(at(empty, "spec", "selector")).toEqual({ matchLabels: { [UID]: at(empty, "metadata", "uid") } });
    },
  },
  {
    name: "the labels that a job finds its pods by are not given by others",
    async run(c) {
      const ask = (labels: Json) => postJob(c, "j", { template: template(labels) });
      const uidOf = (text: unknown): string => /must be '([0-9a-f-]{36})'/.exec(String(text))?.[1] ?? "";
      const named = await ask({ "job-name": "y" });
      const uid = /"controller-uid":"([^"]+)"/.exec(String(named.body["message"]))?.[1] ?? "";
      const all = { [UID]: uid, [JOB_NAME]: "j", "controller-uid": uid, "job-name": "y" };
      const field = "spec.template.metadata.labels";
      invalid(named, `${field}[job-name]: Invalid value: ${JSON.stringify(all)}: must be 'j'`);
      const given = await ask({ [UID]: "x" });
      const own = uidOf(given.body["message"]);
      const labels = JSON.stringify({ [UID]: "x", [JOB_NAME]: "j", "controller-uid": own, "job-name": "j" });
      invalid(
        given,
        `${field}[${UID}]: Invalid value: ${labels}: must be '${own}'`,
        `${field}: Invalid value: ${labels}: \`selector\` does not match template \`labels\``,
      );
    },
  },
];

const TAINTED = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].map((key) => ({
  key,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
}));

const runtimes: ContractCase[] = [
  {
    name: "a pod gets the overhead and the scheduling of its runtime class",
    async run(c) {
      await c.api.post(c.core("serviceaccounts"), {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "default" },
      });
      const named = async (more: Json): Promise<string> => {
        const name = nameOf(c);
        const body = { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name }, handler: "h", ...more };
        await made(c.api.post("/apis/node.k8s.io/v1/runtimeclasses", body));
        return name;
      };
      const more = { operator: "Equal", value: "v", effect: "NoSchedule", key: "l" };
      const [plain, heavy, placed] = [
        await named({}),
        await named({ overhead: { podFixed: { cpu: "250m", memory: "1Gi" } } }),
        await named({
          scheduling: { nodeSelector: { a: "b" }, tolerations: [{ key: "k", operator: "Exists" }, more] },
        }),
      ];
      const ask = (spec: Json) =>
        c.api.post(c.core("pods"), {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: nameOf(c) },
          spec: { containers: [{ name: "c", image: "i" }], automountServiceAccountToken: false, ...spec },
        });
      await eventually(async () => (await ask({ runtimeClassName: placed })).code === 201 || undefined, "a class");
      const spec = async (given: Json) => (await made(ask(given)))["spec"] as Json;
      const overhead = { cpu: "250m", memory: "1Gi" };
      expect((await spec({ runtimeClassName: heavy }))["overhead"]).toEqual(overhead);
      expect((await spec({ runtimeClassName: heavy, overhead }))["overhead"]).toEqual(overhead);
      const chosen = await spec({ runtimeClassName: placed, nodeSelector: { x: "y" } });
      expect(chosen["nodeSelector"]).toEqual({ a: "b", x: "y" });
      expect(chosen["tolerations"]).toEqual([...TAINTED, { key: "k", operator: "Exists" }, more]);
      const tolerant = await spec({
        runtimeClassName: placed,
        tolerations: [{ key: "k", operator: "Exists" }, { operator: "Exists" }],
      });
      expect(tolerant["tolerations"]).toEqual([{ operator: "Exists" }]);
      const cpu = { overhead: { cpu: "1" } };
      const undefinedBy = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
      const faults: readonly (readonly [Json, string])[] = [
        [{ runtimeClassName: "absent" }, 'pod rejected: RuntimeClass "absent" not found'],
        [
          { runtimeClassName: heavy, ...cpu },
          "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ],
        [{ runtimeClassName: plain, ...cpu }, undefinedBy],
        [cpu, undefinedBy],
        [
          { runtimeClassName: placed, nodeSelector: { a: "c" } },
          "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c",
        ],
      ];
      for (const [given, why] of faults) {
        const answer = await ask(given);
        refused(answer, 403, "Forbidden");
        expect(String(answer.body["message"])).toMatch(/^pods "[^"]+" is forbidden: /);
        expect(String(answer.body["message"]).split("is forbidden: ")[1]).toBe(why);
      }
    },
  },
];

export const jobsAndRuntimes: CaseGroup = {
  title: "selectors of Jobs and overheads of RuntimeClasses",
  cases: [...jobs, ...runtimes],
};
