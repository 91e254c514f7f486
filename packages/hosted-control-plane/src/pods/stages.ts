import type { KubeObject, Secret } from "@causeway/kubernetes";
import type { Endpoint, Observed } from "./observed.ts";
import { imagesOf, type Images } from "./images.ts";
import { differs, idOf, restarts, stamped } from "./live.ts";
import { apiServerConfig, apiServerObjects } from "./objects/apiserver.ts";
import { cloudControllerObjects, controllerObjects } from "./objects/controllers.ts";
import { isRestored } from "./keyspace.ts";
import { migrationOf, ownSpec } from "./migration/served.ts";
import { etcdObjects, type EtcdSeed, type MembersShape } from "./objects/etcd.ts";
import {
  isResizing,
  membersAnnotation,
  registeredAnnotation,
  remainingShape,
  servingMembers,
  wantedMembers,
  type WantedMembers,
} from "./plan-members.ts";
import { isRolledOut, templateCredentials, templateVersion, workload } from "./rollout.ts";
import { isPooled, type TunnelSettings } from "./options.ts";
import { sizes, type Size } from "./sizes.ts";
import { digestOf } from "./tenant.ts";

/** How far the programs of a control plane are, and what they are to be. */
export interface Stages {
  /** The objects of all stages that began, each as its stage wants it now. */
  readonly objects: readonly KubeObject[];
  /** The datastore is as requested. */
  readonly isEtcdDone: boolean;
  /** So is the own etcd that it is to move to. */
  readonly isNextEtcdDone: boolean;
  /** An API server is ready. */
  readonly isServing: boolean;
  /** Every program is as requested. */
  readonly isComplete: boolean;
  /**
   * Programs of stages that have not begun, which run with images that are not known any more. They are left as they
   * are.
   */
  readonly untouched: readonly string[];
  /** The program that the next stage waits for. */
  readonly waitsFor: string;
}

interface StageFrom {
  readonly endpoint: Endpoint;
  readonly images: Images;
}

/** What a stage that may not begin yet keeps running. */
interface Held {
  readonly version: string;
  readonly images: Images;
  readonly replicas: number;
  readonly credentials: string;
}

/**
 * etcd, then the API servers, then the controllers, which are never newer than the API. A stage that may not begin is
 * kept as it is, with its version, its replicas and its certificates. Down to hibernation the order is the reverse one.
 */
export function stagesOf(observed: Observed, { endpoint, images }: StageFrom): Stages {
  const { spec, live, namespaceName: namespace } = observed;
  const sleeping = spec.replicas === 0;
  const api = workload(live.get("Deployment/kube-apiserver"));
  const base: Base = { spec, namespace, size: sizes[spec.pods?.size ?? "Small"], images, endpoint, sleeping };
  const etcd = etcdStage(observed, base, api?.status?.replicas ?? 0);
  const etcdDone = isEtcdDone(observed, etcd);
  const next = nextEtcd(observed, base);
  const servers = apiStage(observed, base, etcdDone);
  const apiDone = servers.began && isDone(observed, servers.objects);
  const controllers = controllersStage(observed, base, apiDone);
  const controllersDone = controllers.began && isDone(observed, controllers.objects);
  return {
    objects: [...etcd, ...next.objects, ...servers.objects, ...controllers.objects],
    untouched: [...servers.untouched, ...controllers.untouched],
    isEtcdDone: etcdDone,
    isNextEtcdDone: next.isDone,
    isServing: !sleeping && (api?.status?.readyReplicas ?? 0) > 0,
    isComplete: etcdDone && apiDone && controllersDone && !isResizing(observed),
    waitsFor: [...(etcdDone ? [] : ["etcd"]), ...(apiDone ? [] : ["kube-apiserver"]), "the controllers"][0] ?? "",
  };
}

function isEtcdDone(observed: Observed, own: readonly KubeObject[]): boolean {
  if (!isPooled(observed.spec)) return isDone(observed, own);
  return observed.pool?.ready === true && observed.hasEtcdUser;
}

/** The etcd that it is to move to, next to the one that serves. */
function nextEtcd(
  observed: Observed,
  base: Base,
): { readonly objects: readonly KubeObject[]; readonly isDone: boolean } {
  const { nextEtcd: next, requested, settings } = observed;
  const record = migrationOf(observed);
  if (next === undefined || record === undefined) return { objects: [], isDone: false };
  const spec = ownSpec(requested, record);
  const { revision } = record;
  const seed = next.seeded ? { revision, image: settings.causewayImage ?? "" } : undefined;
  const objects = etcdStage({ ...observed, spec }, { ...base, spec }, 1, seed);
  return { objects, isDone: isDone(observed, objects) };
}

interface Base {
  readonly spec: Observed["spec"];
  readonly namespace: string;
  readonly size: Size;
  readonly images: Images;
  readonly endpoint: Endpoint;
  readonly sleeping: boolean;
}

interface Stage {
  readonly objects: readonly KubeObject[];
  /** False: what runs is kept as it is. */
  readonly began: boolean;
  readonly untouched: readonly string[];
}

/** etcd, if it has its own, runs as long as an API server does. */
function etcdStage(observed: Observed, { sleeping, ...base }: Base, apiPods: number, seed?: EtcdSeed): KubeObject[] {
  const { spec } = base;
  const { live } = observed;
  if (isPooled(spec)) return [];
  const members = wantedMembers(observed);
  const from = {
    ...base,
    version: spec.version,
    datastore: spec.pods?.datastore ?? {},
    running: !sleeping || apiPods > 0,
    quotaBytes: spec.limits.bytes,
    credentials: secretDigest(observed, "etcd"),
    seed,
  };
  const objectsOf = (shape: MembersShape) => etcdObjects({ ...from, shape });
  const remaining = remainingShape(observed, members);
  const kept = remaining && objectsOf(remaining);
  const isKept = kept?.every((object) => object.kind !== "StatefulSet" || !restarts(live.get(idOf(object)), object));
  const objects = kept !== undefined && isKept === true ? kept : objectsOf(members.shape);
  return objects.map((object) => withMembers(object, members));
}

function apiStage(observed: Observed, { sleeping, ...base }: Base, etcdDone: boolean): Stage {
  const { spec, namespace, images } = base;
  const { tunnel, audit } = observed.settings;
  // Where an API server was started nothing is restored any more.
  const began = (etcdDone || sleeping) && isRestored(observed);
  const credentials = apiServerDigest(secretDigest(observed, "kube-apiserver"), tunnel);
  const wanted: Held = { version: spec.version, images, replicas: spec.replicas, credentials };
  const now = began ? wanted : heldOf(observed, "kube-apiserver");
  if (now === undefined) return { objects: [], began, untouched: ["kube-apiserver"] };
  const poolServers = observed.pool?.servers ?? [];
  const program = apiServerObjects({
    ...base,
    ...now,
    tunnel,
    audit,
    poolServers,
    etcdMembers: servingMembers(observed),
    atOnce: migrationOf(observed)?.stage === "Switching",
  });
  return { objects: [apiServerConfig({ namespace, tunnel, spec }), ...program], began, untouched: [] };
}

/** Of what API servers are started with: the annotation of their template. */
export function apiServerDigest(secret: string, tunnel: TunnelSettings | undefined): string {
  return digestOf([secret, tunnel ?? null]);
}

const controllerNames = ["kube-controller-manager", "kube-scheduler", "cloud-controller-manager"];

function controllersStage(observed: Observed, { sleeping, ...base }: Base, apiDone: boolean): Stage {
  const { spec, settings } = observed;
  const { images } = base;
  const began = apiDone || sleeping;
  const untouched: string[] = [];
  const objects = controllerNames.flatMap((name) => {
    const isCloud = name === "cloud-controller-manager";
    if (isCloud && spec.pods?.cloudConfigSecret === undefined) return [];
    const credentials = secretDigest(observed, name);
    const wanted: Held = { version: spec.version, images, replicas: spec.replicas, credentials };
    const now = began ? wanted : heldOf(observed, name);
    if (now === undefined) {
      untouched.push(name);
      return [];
    }
    const from = { ...base, ...now, credentials: { [name]: now.credentials } };
    const all = isCloud ? cloudControllerObjects(from, settings.causewayImage ?? "") : controllerObjects(from);
    return all.filter(({ metadata }) => metadata.name === name);
  });
  return { objects, began, untouched };
}

/** What runs now; undefined: nothing, or something whose version is not in the table of images any more. */
function heldOf({ live, settings }: Observed, name: string): Held | undefined {
  const running = workload(live.get(`Deployment/${name}`));
  const version = templateVersion(running);
  const images = version === undefined ? undefined : imagesOf(version, settings);
  if (running === undefined || version === undefined || images === undefined) return undefined;
  return { version, images, replicas: running.spec.replicas ?? 1, credentials: templateCredentials(running) };
}

/** Are the objects as wanted, and the programs among them rolled out? */
function isDone({ live }: Observed, objects: readonly KubeObject[]): boolean {
  return objects.every((object) => {
    const running = live.get(idOf(object));
    if (differs(running, stamped(object))) return false;
    const isProgram = object.kind === "Deployment" || object.kind === "StatefulSet";
    return !isProgram || isRolledOut(workload(running));
  });
}

function secretDigest({ live }: Observed, name: string): string {
  return digestOf((live.get(`Secret/${name}`) as Secret | undefined)?.data ?? null);
}

function withMembers(object: KubeObject, { settled, registered }: WantedMembers): KubeObject {
  if (object.kind !== "StatefulSet") return object;
  const annotations = {
    ...object.metadata.annotations,
    [membersAnnotation]: String(settled),
    ...(registered === undefined ? {} : { [registeredAnnotation]: String(registered) }),
  };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
