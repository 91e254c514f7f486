import { annotations, type KubeadmControlPlane } from "@causeway/api";
import type { PlannedEvent } from "@causeway/kubernetes";
import type { Observed } from "./observed.ts";
import type { ControlPlaneStep } from "./steps.ts";

/** What kubeadm installed in the workload cluster next to the control plane: the images of today. */
export interface AddonImages {
  /** Image of the container kube-proxy of the DaemonSet kube-proxy; undefined: there is none. */
  readonly kubeProxy?: string | undefined;
  /** Image of the container coredns of the Deployment coredns; undefined: there is none. */
  readonly coreDns?: string | undefined;
}

/** The parts of "registry/repository:tag"; a digest is none of them. */
export interface ImageName {
  readonly repository: string;
  readonly tag: string;
}

/** @returns undefined for an image that is named by a digest, or has no tag */
export function parseImage(text: string): ImageName | undefined {
  const [, repository, tag] = /^([^@\s]+):([\w][\w.-]{0,127})$/.exec(text) ?? [];
  return repository === undefined || tag === undefined || tag.includes("/") ? undefined : { repository, tag };
}

interface Upkeep {
  readonly steps: readonly ControlPlaneStep[];
  readonly events: readonly PlannedEvent[];
}

/**
 * kube-proxy follows the version of the control plane, and CoreDNS the tag that the KubeadmControlPlane names, once all
 * machines are up to date. What is not there is not made: another program may do its work.
 */
export function addonUpkeep({ control, workload }: Observed): Upkeep {
  if (workload.reach === "unreachable") return { steps: [], events: [] };
  const { kubeProxy, coreDns } = workload.addons;
  const proxy = kubeProxy === undefined ? [] : kubeProxySteps(control, kubeProxy);
  const dns = coreDns === undefined ? { steps: [], events: [] } : coreDnsUpkeep(control, coreDns);
  return { steps: [...proxy, ...dns.steps], events: dns.events };
}

function has({ metadata }: KubeadmControlPlane, annotation: string): boolean {
  return metadata.annotations?.[annotation] !== undefined;
}

function kubeProxySteps(control: KubeadmControlPlane, present: string): ControlPlaneStep[] {
  const image = parseImage(present);
  if (has(control, annotations.skipKubeProxy) || !image) return [];
  const { imageRepository } = control.spec.kubeadmConfigSpec?.clusterConfiguration ?? {};
  const repository = imageRepository ? `${imageRepository}/kube-proxy` : image.repository;
  // A tag cannot have the + of a build.
  const wanted = `${repository}:${control.spec.version.replace("+", "_")}`;
  return wanted === present ? [] : [{ type: "set-addon-image", addon: "kube-proxy", image: wanted }];
}

function coreDnsUpkeep(control: KubeadmControlPlane, present: string): Upkeep {
  const image = parseImage(present);
  const { dns, imageRepository } = control.spec.kubeadmConfigSpec?.clusterConfiguration ?? {};
  if (has(control, annotations.skipCoreDns) || !image) return { steps: [], events: [] };
  const registry = dns?.imageRepository || imageRepository;
  const repository = registry ? coreDnsIn(registry, dns?.imageRepository !== undefined) : image.repository;
  const wanted = `${repository}:${dns?.imageTag || image.tag}`;
  if (wanted === present) return { steps: [], events: [] };
  const problem = versionProblem(image.tag, dns?.imageTag || image.tag);
  if (problem !== undefined)
    return { steps: [], events: [{ type: "Warning", reason: "CoreDNSNotUpgraded", message: problem }] };
  return { steps: [{ type: "set-addon-image", addon: "coredns", image: wanted }], events: [] };
}

/** kubeadm's default registry has the image one level deeper than one of a user's. */
function coreDnsIn(registry: string, isOfDns: boolean): string {
  const isDefault = registry === "registry.k8s.io" || registry === "k8s.gcr.io";
  return isDefault && !isOfDns ? `${registry}/coredns/coredns` : `${registry}/coredns`;
}

/** The first version from which on a Corefile of kubeadm needs no change. */
const unchangedSince = [1, 8, 0] as const;

/** Why CoreDNS cannot get another version; undefined: it can, with the Corefile that it has. */
function versionProblem(from: string, to: string): string | undefined {
  const [before, after] = [numbersOf(from), numbersOf(to)];
  const hint = `set the annotation ${annotations.skipCoreDns} and change CoreDNS by hand`;
  if (!before || !after) return `CoreDNS ${from} cannot be compared with ${to}: ${hint}`;
  if (compare(after, before) < 0) return `CoreDNS cannot be downgraded from ${from} to ${to}: ${hint}`;
  if (compare(before, unchangedSince) < 0 && compare(after, before) > 0)
    return `The Corefile of CoreDNS ${from} has to be changed for ${to}: ${hint}`;
  return undefined;
}

type Numbers = readonly [number, number, number];

function numbersOf(tag: string): Numbers | undefined {
  const [, major, minor, patch] = /^v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})/.exec(tag) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

function compare(a: Numbers, b: Numbers): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
