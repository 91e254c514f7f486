import type { Container, KubeObject, PodTemplateSpec } from "@causeway/kubernetes";
import { componentLabel, credentialsAnnotation, managedBy, managedByLabel, versionAnnotation } from "../tenant.ts";
import type { Resources } from "../sizes.ts";
import { namedMeta, selectorOf } from "./meta.ts";

/** A path that responds with 200 while a program is live, or ready. */
export interface Probe {
  readonly path: string;
  readonly port: number;
  readonly scheme: "HTTP" | "HTTPS";
}

/** What differs between the programs of a control plane. */
export interface PodOf {
  readonly component: string;
  /** Kubernetes version. */
  readonly version: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly resources: Resources;
  /** Digest of the Secrets and ConfigMaps that it mounts. */
  readonly credentials: string;
  /** Where Secrets and ConfigMaps are mounted: by volume name. */
  readonly mounts: readonly Mount[];
  readonly ports: Readonly<Record<string, number>>;
  readonly live: Probe;
  readonly ready: Probe;
  /** Seconds that it has to end. */
  readonly grace: number;
  /** What runs to its end before, with the same volumes. */
  readonly first?: { readonly image: string; readonly command: readonly string[] };
  /** The image's program has the file capability NET_BIND_SERVICE: it does not start without it. */
  readonly bindsLowPorts?: true;
}

/** A volume of one Secret, one ConfigMap, a claim, or of the pod's own. */
export interface Mount {
  readonly name: string;
  readonly path: string;
  readonly secret?: string;
  readonly configMap?: string;
  /** Of a claim: the volume is not listed in the pod. */
  readonly claim?: true;
  /** Empty at first, written by the program, gone with the pod: its size at most. */
  readonly scratch?: string;
}

const USER = 65_532;
/** Octal 440: the group of the pod reads it. */
const READABLE = 288;

/** In a command: the kubelet replaces it with the pod's address. */
export const podAddress = "$(POD_IP)";

/** The pod template of one program: what restricted Pod Security asks for, probes, spread over nodes and zones. */
export function podTemplate(of: PodOf): PodTemplateSpec {
  const labels = { [managedByLabel]: managedBy, [componentLabel]: of.component };
  return {
    metadata: {
      labels,
      annotations: { [versionAnnotation]: of.version, [credentialsAnnotation]: of.credentials },
    },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: USER,
        runAsGroup: USER,
        fsGroup: USER,
        fsGroupChangePolicy: "OnRootMismatch",
        seccompProfile: { type: "RuntimeDefault" },
      },
      terminationGracePeriodSeconds: of.grace,
      topologySpreadConstraints: ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey) => ({
        maxSkew: 1,
        topologyKey,
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: labels },
        // Of a Deployment: pods that are being replaced do not count, or all new ones may share a node.
        ...(of.mounts.some(({ claim }) => claim === true) ? {} : { matchLabelKeys: ["pod-template-hash"] }),
      })),
      ...(of.first === undefined ? {} : { initContainers: [firstContainer(of, of.first)] }),
      containers: [container(of)],
      volumes: [
        { name: "tmp", emptyDir: { sizeLimit: "64Mi" } },
        ...of.mounts.filter(({ claim }) => claim === undefined).map(volume),
      ],
    },
  };
}

/** Drains take one pod of a program at a time; the only one, too: they would never end otherwise. */
export function disruptionBudget(namespace: string, component: string): KubeObject {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: namedMeta(namespace, component, component),
    spec: { maxUnavailable: 1, selector: selectorOf(component) },
  } as KubeObject;
}

function volume({ name, secret, configMap, scratch }: Mount): { name: string } & Record<string, unknown> {
  if (scratch !== undefined) return { name, emptyDir: { sizeLimit: scratch } };
  if (secret !== undefined) return { name, secret: { secretName: secret, defaultMode: READABLE } };
  return { name, configMap: { name: configMap, defaultMode: READABLE } };
}

function field(name: string, fieldPath: string) {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

function firstContainer(of: PodOf, { image, command }: NonNullable<PodOf["first"]>): Container {
  const { env, resources, securityContext, volumeMounts, imagePullPolicy, terminationMessagePolicy } = container(of);
  return {
    name: "prepare",
    image,
    command: [...command],
    env,
    resources,
    securityContext,
    volumeMounts,
    imagePullPolicy,
    terminationMessagePolicy,
  } as Container;
}

function container(of: PodOf): Container {
  const probe = ({ path, port, scheme }: Probe) => ({ httpGet: { path, port, scheme } });
  return {
    name: of.component,
    image: of.image,
    imagePullPolicy: "IfNotPresent",
    command: [...of.command],
    // Why it ended is in the pod's status, where the control plane's condition reads it.
    terminationMessagePolicy: "FallbackToLogsOnError",
    env: [field("POD_IP", "status.podIP"), field("POD_NAME", "metadata.name")],
    ports: Object.entries(of.ports).map(([name, containerPort]) => ({ name, containerPort, protocol: "TCP" })),
    resources: { requests: { ...of.resources.requests }, limits: { ...of.resources.limits } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"], ...(of.bindsLowPorts ? { add: ["NET_BIND_SERVICE"] } : {}) },
    },
    // Five minutes to start: it may have to read large data.
    startupProbe: { ...probe(of.live), periodSeconds: 2, failureThreshold: 150, timeoutSeconds: 5 },
    livenessProbe: { ...probe(of.live), periodSeconds: 10, failureThreshold: 8, timeoutSeconds: 15 },
    readinessProbe: { ...probe(of.ready), periodSeconds: 2, failureThreshold: 3, timeoutSeconds: 5 },
    volumeMounts: [
      { name: "tmp", mountPath: "/tmp" },
      ...of.mounts.map(({ name, path, claim, scratch }) => ({
        name,
        mountPath: path,
        ...(claim === true || scratch !== undefined ? {} : { readOnly: true }),
      })),
    ],
  };
}
