import { expect } from "vitest";
import type { Answer, CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { podContainers } from "./refused/pod-containers.ts";
import { podHandlers } from "./refused/pod-handlers.ts";
import { podNames } from "./refused/pod-names.ts";
import { podScheduling } from "./refused/pod-scheduling.ts";
import { podSecurity } from "./refused/pod-security.ts";
import { podVolumes } from "./refused/pod-volumes.ts";
import { jobs } from "./refused/jobs.ts";
import { networks } from "./refused/networks.ts";
import { policies } from "./refused/policies.ts";
import type { PodRow, Row } from "./refused/row.ts";
import { storage } from "./refused/storage.ts";
import { workloads } from "./refused/workloads.ts";
import { causesOf } from "./shorthands.ts";
import { collection } from "./defaults.ts";

/** Causes of a refusal; of one without causes its code and message. */
function saidOf(answer: Answer): string[] {
  const { code, body } = answer;
  return code === 422 ? causesOf(answer) : [`${code} ${String(body["message"])}`];
}

const POD = { containers: [{ name: "c", image: "i" }], automountServiceAccountToken: false };

async function account({ api, core }: Context): Promise<void> {
  await api.post(core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } });
}

/** A case for each word before the colon of a title. */
function grouped<R extends readonly [string, ...unknown[]]>(
  rows: readonly R[],
  run: (c: Context, row: R) => Promise<Answer>,
): ContractCase[] {
  const groups = Map.groupBy(rows, ([title]) => title.split(":")[0] ?? "");
  return [...groups].map(([name, all]) => ({
    name: `invalid fields are rejected with their causes: ${name}`,
    async run(c) {
      await account(c);
      for (const row of all) {
        const [title] = row;
        expect([title, ...saidOf(await run(c, row))]).toEqual([title, ...(row.at(-1) as string[])]);
      }
    },
  }));
}

function pod(c: Context, [, spec]: PodRow): Promise<Answer> {
  const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { ...POD, ...spec } };
  return c.api.post(`${c.core("pods")}?dryRun=All`, body);
}

/** In a template the fields have another path. */
async function template(c: Context, [, spec]: PodRow): Promise<Answer> {
  const labels = { a: "b" };
  const body: Json = {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "p" },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { ...POD, ...spec } } },
  };
  return c.api.post(`${c.apis("apps/v1", "daemonsets")}?dryRun=All`, body);
}

const inTemplate = podHandlers.map(([title, spec, causes]): PodRow => [
  `template, ${title}`,
  spec,
  causes.map((cause) => `spec.template.${cause}`),
]);

/** Where objects of these kinds are: version, plural, and whether they are the cluster's. */
const PLACES: Readonly<Record<string, readonly [apiVersion: string, plural: string, clusterScoped?: true]>> = {
  Deployment: ["apps/v1", "deployments"],
  ReplicaSet: ["apps/v1", "replicasets"],
  DaemonSet: ["apps/v1", "daemonsets"],
  StatefulSet: ["apps/v1", "statefulsets"],
  Job: ["batch/v1", "jobs"],
  CronJob: ["batch/v1", "cronjobs"],
  HorizontalPodAutoscaler: ["autoscaling/v2", "horizontalpodautoscalers"],
  PodDisruptionBudget: ["policy/v1", "poddisruptionbudgets"],
  PriorityClass: ["scheduling.k8s.io/v1", "priorityclasses", true],
  LimitRange: ["v1", "limitranges"],
  ResourceQuota: ["v1", "resourcequotas"],
  PersistentVolume: ["v1", "persistentvolumes", true],
  PersistentVolumeClaim: ["v1", "persistentvolumeclaims"],
  StorageClass: ["storage.k8s.io/v1", "storageclasses", true],
  VolumeAttachment: ["storage.k8s.io/v1", "volumeattachments", true],
  CSIDriver: ["storage.k8s.io/v1", "csidrivers", true],
  NetworkPolicy: ["networking.k8s.io/v1", "networkpolicies"],
  Ingress: ["networking.k8s.io/v1", "ingresses"],
  IngressClass: ["networking.k8s.io/v1", "ingressclasses", true],
  RuntimeClass: ["node.k8s.io/v1", "runtimeclasses", true],
};

function other(c: Context, [, kind, body]: Row): Promise<Answer> {
  const [apiVersion, plural, clusterScoped = false] = PLACES[kind] ?? ["", ""];
  const path = collection(c, { apiVersion, plural, ...(clusterScoped ? { clusterScoped } : {}) });
  return c.api.post(`${path}?dryRun=All`, { apiVersion, kind, metadata: { name: "x" }, ...body });
}

export const validation: CaseGroup = {
  title: "validation of built-in kinds",
  cases: [
    ...grouped([...podContainers, ...podVolumes, ...podHandlers, ...podSecurity, ...podScheduling, ...podNames], pod),
    ...grouped(inTemplate, template),
    ...grouped([...workloads, ...jobs, ...policies, ...storage, ...networks], other),
  ],
};
