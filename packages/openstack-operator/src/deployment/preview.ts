import type { OpenStackDeployment } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import { readCredentials } from "../credentials/credentials.ts";
import type { Catalogue } from "../catalogue/index.ts";
import { labels } from "../model/names.ts";
import { imageBuildOf } from "../render/context.ts";
import type { ImageBuild } from "../render/overlay.ts";
import { judgeComponents, type Judged } from "./components.ts";
import type { Observed } from "./gather.ts";
import { desiredFor, plan } from "./plan.ts";
import { withReleaseNow } from "./upgrade.ts";

/** What a change of a deployment would do. Nothing is written. */
export interface Preview {
  /** Why nothing would be done. */
  readonly refused?: string;
  /** The release that comes before the wanted one: the rest is about the upgrade to it. */
  readonly first?: string;
  /** Components whose pods are replaced, in the order in which that happens. */
  readonly restarts: readonly { readonly component: string; readonly pods: number }[];
  /** Jobs that run, in their order. */
  readonly reruns: readonly string[];
  /** Components that are created. */
  readonly creates: readonly string[];
  /** Other objects that are written, and those that are deleted at the end. */
  readonly touches: readonly string[];
  readonly deletes: readonly string[];
  /** Images with more packages, which have to be there before: how to build them. */
  readonly images: readonly ImageBuild[];
}

const nothing = { restarts: [], reruns: [], creates: [], touches: [], deletes: [], images: [] };

/** What has to be built for a specification, by reference. */
function imageBuilds(spec: OpenStackDeployment["spec"], { components }: Catalogue): ImageBuild[] {
  const builds = components.flatMap((component) => imageBuildOf(spec, component) ?? []);
  const byImage = new Map(builds.map((build) => [build.image, build]));
  return [...byImage.values()].toSorted((a, b) => (a.image < b.image ? -1 : 1));
}

/** Compares what exists with what `wanted` describes. */
export function previewChange(observed: Observed, wanted: OpenStackDeployment, now: number): Preview {
  const deployment = withReleaseNow({ ...observed.deployment, spec: wanted.spec });
  const changed = { ...observed, deployment };
  if (!readCredentials(observed.credentials?.data))
    return { ...nothing, refused: "the deployment has no credentials yet: it would be installed" };
  const { status } = plan(changed, now);
  const invalid = status.conditions?.find(
    ({ type, status: value }) => type === "ConfigurationValid" && value === "False",
  );
  if (invalid) return { ...nothing, refused: invalid.message ?? invalid.reason };
  const desired = desiredFor(changed);
  const judged = [...judgeComponents(desired, changed).values()];
  const wantedNames = new Set(
    [...desired.workloads.values()].flat().map(({ object }) => `${object.kind}/${object.metadata.name}`),
  );
  const isNew = (object: KubeObject) => !observed.objects.has(`${object.kind}/${object.metadata.name}`);
  const changing = judged.filter(({ writes }) => writes.length > 0);
  const isJob = ({ component }: Judged) => component.kind === "Job";
  const exists = ({ writes }: Judged) => !writes.every(isNew);
  const { release } = deployment.spec;
  return {
    ...(release === wanted.spec.release ? {} : { first: release }),
    restarts: changing
      .filter((each) => !isJob(each) && exists(each))
      .map((each) => ({ component: each.component.name, pods: podsOf(observed, each) })),
    reruns: changing.filter(isJob).map(({ component }) => component.name),
    creates: changing.filter((each) => !isJob(each) && !exists(each)).map(({ component }) => component.name),
    touches: desired.foundation
      .map(({ object }) => object)
      .filter((object) => isNew(object))
      .map((object) => `${object.kind}/${object.metadata.name}`),
    images: imageBuilds(deployment.spec, desired.catalogue),
    deletes: [...observed.objects.keys()].filter((id) => isWorkload(observed, id) && !wantedNames.has(id)),
  };
}

function isWorkload({ objects }: Observed, id: string): boolean {
  return (
    objects.get(id)?.metadata.labels?.[labels.component] !== undefined &&
    /^(Deployment|StatefulSet|DaemonSet|Job)\//.test(id)
  );
}

function podsOf({ pods }: Observed, { component }: Judged): number {
  return pods.filter(({ metadata }) => metadata.labels?.[labels.component] === component.name).length;
}

/** The chain from a component to its root cause, from a status: one line each. */
export function explainComponent({ metadata, status }: OpenStackDeployment, given: string): string[] | undefined {
  const components = new Map((status?.components ?? []).map((each) => [each.name, each]));
  const name =
    given.startsWith(`${metadata.name}-`) && !components.has(given) ? given.slice(metadata.name.length + 1) : given;
  const lines: string[] = [];
  const seen = new Set<string>();
  for (let next = components.get(name); next && !seen.has(next.name);) {
    seen.add(next.name);
    lines.push(`${next.name} (${next.kind}) is ${next.state}${next.step ? `: ${next.step}` : ""}`);
    const waiting: string | undefined =
      next.waitingFor?.find((each) => components.get(each)?.state !== "Ready") ?? next.waitingFor?.[0];
    if (waiting === undefined && next.rootCause !== undefined) lines.push(`root cause: ${next.rootCause}`);
    next = waiting === undefined ? undefined : components.get(waiting);
  }
  return lines.length > 0 ? lines : undefined;
}
