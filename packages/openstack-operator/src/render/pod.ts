import type { Container, PodTemplateSpec } from "@causeway/kubernetes";
import { fileNames, LOGGING_FILE, needsLoggingFile } from "../config/index.ts";
import type { Component } from "../model/component.ts";
import { plainName } from "../model/cell.ts";
import { annotations, labels } from "../model/names.ts";
import {
  commandOf,
  configurationOf,
  groupsOf,
  hasFront,
  imageOf,
  selectorOf,
  serviceAccountName,
  underLines,
  type Context,
  type NodeGroup,
} from "./context.ts";
import { environmentOf, hostOption } from "./environment.ts";
import { firstContainers } from "./first-containers.ts";
import { graceSeconds, overridesOf, preStopOf } from "./grace.ts";
import { externalAdministrator } from "./external.ts";
import { knownDatabaseParts } from "./known-databases.ts";
import { exporterContainers, frontMetricsPort, METRICS, metricsMarks } from "./metrics.ts";
import { preflightParts } from "./preflight.ts";
import { hasProber, PROBER_PORT, probesOf } from "./probes.ts";
import { NORTHBOUND, SOUTHBOUND } from "../catalogue/index.ts";
import { containerSecurity, podSecurity } from "./security.ts";
import { tlsParts } from "./tls.ts";
import type { Mount, Parts } from "./types.ts";
import { vaultParts } from "./vault.ts";

/** The pod of a component, on the nodes of one group if it is given. */
export function podOf(context: Context, component: Component, group?: NodeGroup): PodTemplateSpec {
  const { deployment } = context;
  const { spec } = deployment;
  const parts = partsOf(context, component, group);
  const { host } = component;
  const image = imageOf(spec, component);
  const marks = metricsMarks(spec, component);
  const sidecars = exporterContainers(spec, component, {
    deployment: `${deployment.metadata.namespace ?? ""}/${deployment.metadata.name}`,
    imageOf: (name) => imageOf(spec, { ...component, image: name }, false),
  });
  const grace = graceSeconds(component, overridesOf(spec, component.service, group?.name));
  return {
    metadata: {
      labels: {
        ...selectorOf(deployment.metadata.name, component.name),
        [labels.service]: component.service,
        ...marks.labels,
      },
      annotations: {
        ...marks.annotations,
        ...certificateMark(context, component),
        ...ovnMarks(context, component),
        "kubectl.kubernetes.io/default-container": component.name,
        ...(component.cells ? { [annotations.cells]: component.cells.join(" ") } : {}),
        ...(component.service === "nova" && (component.kind === "Deployment" || component.kind === "StatefulSet")
          ? { [annotations.messages]: context.messagesOf }
          : {}),
      },
    },
    spec: {
      serviceAccountName: serviceAccountName(deployment.metadata.name, component),
      automountServiceAccountToken: component.writesSecret !== undefined,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: grace,
      securityContext: podSecurity(component),
      ...(host?.network ? { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" } : {}),
      ...(host?.pid ? { hostPID: true } : {}),
      ...placementOf(context, component, group),
      ...(component.kind === "Job" ? { restartPolicy: restartPolicyOf(component) } : {}),
      initContainers: [
        ...firstContainers(context, component, { image, mounts: parts.mounts }),
        ...prober(context, component, image),
        ...sidecars,
        ...companions(context, component, { image, mounts: parts.mounts, group }),
      ],
      containers: [mainContainer(context, component, { image, mounts: parts.mounts, group })],
      volumes: parts.volumes,
    },
  };
}

/**
 * The check for a first migration that was cut off is a container of its own, which a container that is restarted in
 * place would not run again: each attempt at a schema is a pod of its own.
 */
const restartPolicyOf = ({ schemas, lastWords }: Component): string => (schemas || lastWords ? "Never" : "OnFailure");

/** Certificates change in place, and these processes read them when they start. */
function certificateMark({ certificates }: Context, { service, secrets = [] }: Component): Record<string, string> {
  const renewed = certificates[service];
  const mounts = secrets.some((key) => key.endsWith(".certificates") || key.endsWith(".tls"));
  return mounts && renewed !== undefined ? { "openstack.causeway.dev/certificates-of": renewed } : {};
}

/** Clients of a database of OVN refuse another one in its place until they start again. */
function ovnMarks({ rebuilt }: Context, { kind, connections = [] }: Component): Record<string, string> {
  const reads = (database: string) => kind !== "Job" && connections.some(({ to }) => to === database);
  const { nb, sb } = rebuilt;
  return {
    ...(nb !== undefined && reads(NORTHBOUND) ? { "openstack.causeway.dev/northbound-of": nb } : {}),
    ...(sb !== undefined && reads(SOUTHBOUND) ? { "openstack.causeway.dev/southbound-of": sb } : {}),
  };
}

function mainContainer(
  context: Context,
  component: Component,
  { image, mounts, group }: { image: string; mounts: Mount[]; group: NodeGroup | undefined },
): Container {
  const { deployment } = context;
  const { cpu, memory } = {
    ...component.resources,
    ...deployment.spec.services?.find(({ name }) => name === component.service)?.resources,
  };
  const through = { hasTls: deployment.spec.tls !== undefined, hasFront: hasFront(deployment.spec, component) };
  const before = preStopOf(component, overridesOf(deployment.spec, component.service, group?.name));
  return {
    name: component.name,
    image,
    command: underLines(component, commandOf(deployment.spec, component)),
    ...(component.ports ? { ports: containerPorts(context, component) } : {}),
    env: environmentOf(context, component, group),
    resources: { requests: { cpu, memory }, limits: { memory } },
    securityContext: containerSecurity(component),
    ...(component.kind === "Job" ? {} : probesOf(component, through)),
    ...(before ? { lifecycle: { preStop: { exec: { command: before } } } } : {}),
    volumeMounts: mounts,
  };
}

function containerPorts({ deployment }: Context, component: Component) {
  const own = (component.ports ?? []).map(({ name, port, protocol = "TCP" }) => ({
    name,
    containerPort: port,
    protocol,
  }));
  const metrics = frontMetricsPort(deployment.spec, component);
  return metrics === undefined ? own : [...own, { name: METRICS, containerPort: metrics, protocol: "TCP" }];
}

/** It runs from before the main process until after it, and sees what that sees. */
function companions(
  context: Context,
  component: Component,
  { image, mounts, group }: { image: string; mounts: Mount[]; group: NodeGroup | undefined },
): Container[] {
  const { companion } = component;
  if (!companion) return [];
  const { name, command, ready, resources } = companion;
  const { cpu, memory } = resources;
  return [
    {
      name,
      image,
      restartPolicy: "Always",
      command: underLines({ ...component, name }, command),
      env: environmentOf(context, component, group),
      resources: { requests: { cpu, memory }, limits: { memory } },
      securityContext: containerSecurity(component),
      ...probesOf({ ...component, probe: { ask: "command", command: ready } }),
      volumeMounts: mounts,
    },
  ];
}

/** A sidecar that keeps one connection to the broker and asks the process over it. */
function prober(context: Context, component: Component, image: string): Container[] {
  const { deployment } = context;
  const { probe } = component;
  if (!hasProber(component) || probe?.ask !== "rpc") return [];
  const { namespace = "", name } = deployment.metadata;
  return [
    {
      name: "prober",
      image,
      restartPolicy: "Always",
      command: [
        "/usr/bin/python3",
        "/programs/prober.py",
        "serve",
        String(PROBER_PORT),
        component.service,
        probe.topic,
      ],
      ports: [{ name: METRICS, containerPort: PROBER_PORT, protocol: "TCP" }],
      env: [
        { name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
        { name: "DEPLOYMENT", value: `${namespace}/${name}` },
        { name: "COMPONENT", value: component.name },
        ...Object.entries(hostOption(context, component)).map(([option, value]) => ({ name: option, value })),
      ],
      resources: { requests: { cpu: "5m", memory: "24Mi" }, limits: { memory: "48Mi" } },
      securityContext: containerSecurity(component),
      volumeMounts: [
        { name: "programs", mountPath: "/programs", readOnly: true },
        { name: `etc-${component.service}`, mountPath: etcPath(component.service), readOnly: true },
        { name: "tmp", mountPath: "/tmp" },
      ],
    },
  ];
}

const mainFile = (service: string): string =>
  `/etc/${service}/${(fileNames as Record<string, string>)[service] ?? service}.conf`;
/** The folder that oslo.config reads by itself, whatever the name of the process: /etc/PROJECT/PROJECT.conf.d. */
const etcPath = (service: string): string => `/etc/${service}/${service}.conf.d`;

function partsOf(context: Context, component: Component, group: NodeGroup | undefined): Parts {
  const all = [
    scratchParts(component),
    configurationParts(context, component, group),
    keyParts(context, component),
    hostParts(component),
    storageParts(context, component),
    vaultParts(context, component),
    tlsParts(context, component),
    preflightParts(context, component, group),
    knownDatabaseParts(context, component),
  ];
  return { volumes: all.flatMap(({ volumes }) => volumes), mounts: all.flatMap(({ mounts }) => mounts) };
}

function scratchParts({ scratch = [] }: Component): Parts {
  const paths = ["/tmp", "/var/lock/openstack", ...scratch];
  const nameOf = (path: string) => path.slice(1).replaceAll("/", "-");
  return {
    volumes: paths.map((path) => ({ name: nameOf(path), emptyDir: {} })),
    mounts: paths.map((path) => ({ name: nameOf(path), mountPath: path })),
  };
}

function openFiles({ deployment }: Context, { kind }: Component): { key: string; path: string }[] {
  const logging = needsLoggingFile(deployment.spec.release) ? [{ key: LOGGING_FILE, path: LOGGING_FILE }] : [];
  const ofJobs = kind === "Job" ? [{ key: "job.conf", path: "20-job.conf" }] : [];
  return [{ key: "service.conf", path: "10-service.conf" }, ...ofJobs, ...logging];
}

/** One folder for each service: what the operator sets, then passwords, then what the administrator adds. */
function configurationParts(context: Context, component: Component, group: NodeGroup | undefined): Parts {
  const parts: Parts = { volumes: [], mounts: [] };
  for (const service of component.configuration ?? []) {
    const names = configurationOf(context, { service, group: group?.name, component });
    if (!names) continue;
    const own = context.deployment.spec.services?.find(({ name }) => name === service)?.secretConfiguration?.name;
    const sources = [
      { configMap: { name: names.open, items: openFiles(context, component) } },
      { secret: { name: names.secret, items: [{ key: "credentials.conf", path: "50-credentials.conf" }] } },
      ...(own === undefined ? [] : [{ secret: { name: own } }]),
    ];
    parts.volumes.push({ name: `etc-${service}`, projected: { sources, defaultMode: 0o440 } });
    parts.mounts.push({ name: `etc-${service}`, mountPath: etcPath(service), readOnly: true });
    // Under uWSGI a service demands its main file, whatever other folder it reads.
    if (component.command[0] === "uwsgi" || component.demandsMainFile)
      parts.mounts.push({
        name: `etc-${service}`,
        mountPath: mainFile(service),
        subPath: "10-service.conf",
        readOnly: true,
      });
  }
  return parts;
}

function keyParts(context: Context, component: Component): Parts {
  const parts: Parts = { volumes: [], mounts: [] };
  const mount = (name: string, volume: Record<string, unknown>, mountPath: string) => {
    parts.volumes.push({ name, ...volume });
    parts.mounts.push({ name, mountPath, readOnly: true });
  };
  const secret = (secretName: string) => ({ secret: { secretName, defaultMode: 0o440 } });
  const keys = context.keys.get(component.name);
  const external = administratorOf(context, component);
  if (keys !== undefined && external) {
    const { secret: name, items } = external;
    const sources = [{ secret: { name: keys } }, { secret: { name, items } }];
    mount("credentials", { projected: { sources, defaultMode: 0o440 } }, "/run/credentials");
  } else if (keys !== undefined) mount("credentials", secret(keys), "/run/credentials");
  for (const key of component.secrets ?? []) {
    if (key === "keystone.tokenKeys")
      mount("token-keys", secret(context.mutable.tokenKeys), "/etc/keystone/fernet-keys");
    if (key === "keystone.credentialKeys")
      mount("credential-keys", secret(context.mutable.credentialKeys), "/etc/keystone/credential-keys");
    if (key.endsWith(".certificates") || key.endsWith(".tls"))
      mount(
        "certificates",
        secret(`${context.deployment.metadata.name}-${component.service}-certificates`),
        certificatePath(component),
      );
  }
  const programs = context.programs.get(component.name);
  if (programs !== undefined) mount("programs", { configMap: { name: programs, defaultMode: 0o444 } }, "/programs");
  return parts;
}

/** The account of an external server, or of another operator's, that a Job makes others with. */
function administratorOf({ facts, deployment }: Context, { kind, service, secrets = [] }: Component) {
  const { databases, brokers, components } = facts.catalogue;
  const use = (["database", "broker"] as const).find((each) => secrets.includes(`${each}.admin`));
  if (use === undefined || kind !== "Job") return undefined;
  const backend = (use === "database" ? databases : brokers).get(service);
  if (typeof backend !== "object") {
    const cluster = components.find(({ name, operator }) => name === backend && operator);
    return cluster && externalAdministrator(deployment.metadata.name, cluster);
  }
  const items = [
    { key: "username", path: `${use}.user` },
    { key: "password", path: `${use}.admin` },
  ];
  return { secret: backend.credentials, items };
}

const certificatePath = ({ service }: Component): string =>
  service === "libvirt" ? "/etc/pki/libvirt" : `/etc/${service}/certs`;

function hostParts({ host, sameNode }: Component): Parts {
  const paths = [...(host?.paths ?? [])];
  if (sameNode && !paths.some(({ path }) => path === "/run")) paths.push({ path: "/run" });
  const nameOf = (path: string) => `host-${path.slice(1).replaceAll(/[/.]/g, "-")}`;
  return {
    volumes: paths.map(({ path, readOnly }) => ({
      name: nameOf(path),
      hostPath: { path, type: readOnly ? "Directory" : "DirectoryOrCreate" },
    })),
    mounts: paths.map(({ path, readOnly, bidirectional }) => ({
      name: nameOf(path),
      mountPath: path,
      ...(readOnly ? { readOnly: true } : {}),
      ...(bidirectional ? { mountPropagation: "Bidirectional" } : {}),
    })),
  };
}

function storageParts({ deployment }: Context, component: Component): Parts {
  const { ceph, imageClaim, serverStateClaim } = deployment.spec.storage ?? {};
  const parts: Parts = { volumes: [], mounts: [] };
  const usesCeph = ["glance-api", "cinder-volume", "cinder-backup", "nova-compute", "libvirt"].includes(
    plainName(component),
  );
  if (ceph && usesCeph) {
    parts.volumes.push({ name: "ceph", secret: { secretName: ceph.secret.name, defaultMode: 0o440 } });
    parts.mounts.push({ name: "ceph", mountPath: "/etc/ceph", readOnly: true });
  }
  if (imageClaim !== undefined && component.name === "glance-api") {
    parts.volumes.push({ name: "images", persistentVolumeClaim: { claimName: imageClaim } });
    parts.mounts.push({ name: "images", mountPath: "/var/lib/glance/images" });
  }
  if (serverStateClaim !== undefined && plainName(component) === "nova-compute") {
    parts.volumes.push({ name: "server-state", persistentVolumeClaim: { claimName: serverStateClaim } });
    parts.mounts.push({ name: "server-state", mountPath: "/var/lib/nova/instances" });
  }
  if (component.volume) parts.mounts.push({ name: "data", mountPath: component.volume.mountPath });
  return parts;
}

/**
 * A group's own nodes; components of the control plane run on the nodes of any of its groups, apart from each other.
 */
function placementOf({ deployment }: Context, component: Component, group?: NodeGroup): Record<string, unknown> {
  if (group)
    return { nodeSelector: { ...group.nodeSelector }, tolerations: [{ operator: "Exists", effect: "NoSchedule" }] };
  const terms = groupsOf(deployment.spec, component).map(({ nodeSelector }) => ({
    matchExpressions: Object.entries(nodeSelector).map(([key, value]) => ({ key, operator: "In", values: [value] })),
  }));
  const labelSelector = { matchLabels: selectorOf(deployment.metadata.name, component.name) };
  const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
  const preferred = {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 100, podAffinityTerm: { labelSelector, topologyKey: "kubernetes.io/hostname" } },
    ],
  };
  const required = {
    requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector, topologyKey: "kubernetes.io/hostname" }],
  };
  const isApart = component.scale === "Quorum" && deployment.spec.size !== "Tiny";
  return { affinity: { nodeAffinity, podAntiAffinity: isApart ? required : preferred } };
}
