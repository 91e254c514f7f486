import type { KubeObject, Secret } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import { imagesOf, type Images } from "./images.ts";
import { differs, idOf, stamped } from "./live.ts";
import { apiServerConfig, apiServerObjects } from "./objects/apiserver.ts";
import { cloudControllerObjects, controllerObjects } from "./objects/controllers.ts";
import { etcdMembers, etcdObjects } from "./objects/etcd.ts";
import { membersAnnotation } from "./refusals.ts";
import { isRolledOut, templateCredentials, templateVersion, workload } from "./rollout.ts";
import { sizes } from "./sizes.ts";
import { digestOf } from "./tenant.ts";

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface Stages {
  /** The objects of all stages that began, each as its stage wants it now. */
  readonly objects: readonly KubeObject[];
  /** An API server is ready. */
  readonly isServing: boolean;
  /** Every program is as requested. */
  readonly isComplete: boolean;
  /** The program that the next stage waits for. */
  readonly waitsFor: string;
}

interface StageFrom {
  readonly endpoint: Endpoint;
  readonly images: Images;
  readonly now: number;
}

/** What a stage that may not begin yet keeps running. */
interface Held {
  readonly version: string;
  readonly images: Images;
  readonly replicas: number;
  readonly credentials: string;
}

/**
 * etcd, then the API servers, then the controllers, which are never newer than the API. A stage that may not begin is kept as it is, with its
 * version, its replicas and its certificates. Down to hibernation the order is the reverse one.
 */
export function stagesOf(observed: Observed, from: StageFrom): Stages {
  const { spec, live, namespaceName: namespace, settings } = observed;
  const { endpoint, images } = from;
  const size = sizes[spec.pods?.size ?? "Small"];
  const sleeping = spec.replicas === 0;
  const api = workload(live.get("Deployment/kube-apiserver"));
  const apiPods = api?.status?.replicas ?? 0;
  const base = { spec, namespace, size };

  const etcd = etcdObjects({
    ...base,
    version: spec.version,
    images,
    datastore: spec.pods?.datastore ?? {},
    running: !sleeping || apiPods > 0,
    quotaBytes: spec.limits.bytes,
    credentials: secretDigest(observed, "etcd"),
  }).map((object) => withMembers(object, etcdMembers(spec.pods?.datastore)));
  const etcdDone = isDone(observed, etcd);

  const apiWanted: Held = {
    version: spec.version,
    images,
    replicas: spec.replicas,
    credentials: digestOf([secretDigest(observed, "kube-apiserver"), settings.tunnel ?? null]),
  };
  const apiNow = etcdDone || sleeping ? apiWanted : heldOf(observed, "kube-apiserver");
  const config = apiServerConfig({ namespace, tunnel: settings.tunnel });
  const apiObjects =
    apiNow === undefined
      ? []
      : [config, ...apiServerObjects({ ...base, ...apiNow, endpoint, tunnel: settings.tunnel })];
  const apiDone = apiNow === apiWanted && isDone(observed, apiObjects);

  const controllers = controllersOf(observed, { apiDone, sleeping, images, base });
  const controllersDone = controllers.began && isDone(observed, controllers.objects);
  return {
    objects: [...etcd, ...apiObjects, ...controllers.objects],
    isServing: !sleeping && (api?.status?.readyReplicas ?? 0) > 0,
    isComplete: etcdDone && apiDone && controllersDone,
    waitsFor: !etcdDone ? "etcd" : !apiDone ? "kube-apiserver" : "the controllers",
  };
}

interface ControllersWith {
  readonly apiDone: boolean;
  readonly sleeping: boolean;
  readonly images: Images;
  readonly base: Pick<Parameters<typeof controllerObjects>[0], "spec" | "namespace" | "size">;
}

function controllersOf(
  observed: Observed,
  { apiDone, sleeping, images, base }: ControllersWith,
): { objects: KubeObject[]; began: boolean } {
  const { spec, settings } = observed;
  const names = ["kube-controller-manager", "kube-scheduler", "cloud-controller-manager"];
  const began = apiDone || sleeping;
  const objects = names.flatMap((name) => {
    const isCloud = name === "cloud-controller-manager";
    if (isCloud && spec.pods?.cloudConfigSecret === undefined) return [];
    const wanted: Held = {
      version: spec.version,
      images,
      replicas: spec.replicas,
      credentials: secretDigest(observed, name),
    };
    const now = began ? wanted : heldOf(observed, name);
    if (now === undefined) return [];
    const from = { ...base, ...now, credentials: { [name]: now.credentials } };
    const all = isCloud ? cloudControllerObjects(from, settings.causewayImage ?? "") : controllerObjects(from);
    return all.filter(({ metadata }) => metadata.name === name);
  });
  return { objects, began };
}

/** What runs now; undefined: nothing. */
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

function withMembers(object: KubeObject, members: number): KubeObject {
  if (object.kind !== "StatefulSet") return object;
  const annotations = { ...object.metadata.annotations, [membersAnnotation]: String(members) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
