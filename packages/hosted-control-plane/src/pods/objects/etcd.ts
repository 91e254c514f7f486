import { gzipSync } from "node:zlib";
import type { KubeObject, Service, StatefulSet } from "@causeway/kubernetes";
import { seedFile } from "../../etcd/seed.ts";
import type { Images } from "../images.ts";
import type { PodsSpec } from "../options.ts";
import type { Size } from "../sizes.ts";
import { disruptionBudget, podAddress, podTemplate } from "./pod.ts";
import { labelsOf, namedMeta, selectorOf } from "./meta.ts";

/** What an etcd is made from: one of a control plane, or the shared one. */
export interface EtcdFrom {
  readonly namespace: string;
  readonly version: string;
  readonly images: Images;
  readonly size: Size;
  readonly datastore: NonNullable<PodsSpec["datastore"]>;
  readonly running: boolean;
  /** While the number of members changes. Default: as the datastore has it. */
  readonly shape?: MembersShape;
  readonly quotaBytes: number;
  readonly credentials: string;
  /** It compacts itself: no API server of a prefix may. */
  readonly shared?: boolean;
  /** Members that start for the first time begin with a revision. */
  readonly seed?: EtcdSeed | undefined;
}

/** What writes the first file of a member. */
export interface EtcdSeed {
  readonly revision: number;
  /** Of Causeway: it has Node. */
  readonly image: string;
}

/** How the StatefulSet is on the way to another number of members. */
export interface MembersShape {
  readonly replicas: number;
  /** Members in the command of one that starts for the first time. */
  readonly initial: number;
  /** It joins members that exist. */
  readonly joins: boolean;
  /** Pods with lower ordinals are not restarted. */
  readonly partition: number;
  /** A pod that is scaled away takes its volume along. */
  readonly dropsVolumes: boolean;
}

/** For API servers, and for this program. */
export const ETCD_CLIENT_PORT = 2379;
/** For the other members. */
export const ETCD_PEER_PORT = 2380;
const METRICS_PORT = 2381;
const PKI = "/etc/etcd/pki";

/** The control plane's own etcd: a StatefulSet whose members know each other by the names of a headless Service. */
export function etcdObjects(from: EtcdFrom): KubeObject[] {
  return [service(from), statefulSet(from), disruptionBudget(from.namespace, "etcd")];
}

/** 3 where three are requested, else 1. */
export function etcdMembers(datastore: PodsSpec["datastore"]): number {
  return datastore?.members === 3 ? 3 : 1;
}

function hostOf(namespace: string, name: string): string {
  return `${name}.etcd.${namespace}.svc`;
}

/** At which the other members reach the one with this ordinal. */
export function peerUrlOf(namespace: string, ordinal: number): string {
  return `https://${hostOf(namespace, `etcd-${ordinal}`)}:${ETCD_PEER_PORT}`;
}

function service({ namespace }: EtcdFrom): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: namedMeta(namespace, "etcd", "etcd"),
    spec: {
      clusterIP: "None",
      selector: labelsOf("etcd"),
      // Members find each other before any of them is ready.
      publishNotReadyAddresses: true,
      ports: [
        { name: "client", port: ETCD_CLIENT_PORT, protocol: "TCP" },
        { name: "peer", port: ETCD_PEER_PORT, protocol: "TCP" },
      ],
    },
  } as Service;
}

function statefulSet(from: EtcdFrom): StatefulSet {
  const { namespace, datastore, running, version } = from;
  const members = etcdMembers(datastore);
  const shape = from.shape ?? {
    replicas: members,
    initial: members,
    joins: false,
    partition: 0,
    dropsVolumes: false,
  };
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: namedMeta(namespace, "etcd", "etcd"),
    spec: {
      serviceName: "etcd",
      replicas: running ? shape.replicas : 0,
      ...(shape.partition === 0 ? {} : { updateStrategy: { rollingUpdate: { partition: shape.partition } } }),
      // A member that waits for the others to start must not keep them from starting.
      podManagementPolicy: "Parallel",
      selector: selectorOf("etcd"),
      // The volume of a removed member has nothing that another one could start with. Hibernation keeps all.
      persistentVolumeClaimRetentionPolicy: {
        whenDeleted: "Delete",
        whenScaled: running && shape.dropsVolumes ? "Delete" : "Retain",
      },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: {
            accessModes: ["ReadWriteOnce"],
            ...(datastore.storageClassName === undefined ? {} : { storageClassName: datastore.storageClassName }),
            resources: { requests: { storage: datastore.storage ?? "8Gi" } },
          },
        },
      ],
      template: podTemplate({
        component: "etcd",
        version,
        ...(from.seed === undefined ? {} : { first: { image: from.seed.image, command: seedCommand(from.seed) } }),
        image: from.images.etcd,
        command: command(from, shape),
        resources: from.size.etcd,
        credentials: from.credentials,
        mounts: [
          { name: "pki", path: PKI, secret: "etcd" },
          { name: "data", path: "/var/lib/etcd", claim: true },
        ],
        ports: { client: ETCD_CLIENT_PORT, peer: ETCD_PEER_PORT, metrics: METRICS_PORT },
        // A member without a quorum is alive: restarting it would not help.
        live: { path: "/livez", port: METRICS_PORT, scheme: "HTTP" },
        ready: { path: "/readyz", port: METRICS_PORT, scheme: "HTTP" },
        grace: 30,
      }),
    },
  } as StatefulSet;
}

/** A member that has data is left alone. What is written is complete, or not there. */
const SEED_SCRIPT = [
  "const fs = require('node:fs'), [, file] = process.argv, member = '/var/lib/etcd/data/member';",
  "if (!fs.existsSync(member + '/wal')) {",
  "fs.mkdirSync(member + '/snap', { recursive: true, mode: 0o700 });",
  "fs.writeFileSync(member + '/seed', require('node:zlib').gunzipSync(Buffer.from(file, 'base64')), { mode: 0o600 });",
  "fs.renameSync(member + '/seed', member + '/snap/db'); }",
].join(" ");

function seedCommand({ revision }: EtcdSeed): string[] {
  return ["node", "-e", SEED_SCRIPT, gzipSync(seedFile(revision)).toString("base64")];
}

/** The pod's name is the member's name. */
function command(
  { namespace, quotaBytes, shared = false }: EtcdFrom,
  { initial, joins }: Pick<MembersShape, "initial" | "joins">,
): string[] {
  const host = (name: string) => hostOf(namespace, name);
  const peers = Array.from({ length: initial }, (_, index) => `etcd-${index}`);
  return [
    "etcd",
    "--name=$(POD_NAME)",
    "--data-dir=/var/lib/etcd/data",
    `--listen-client-urls=https://${podAddress}:${ETCD_CLIENT_PORT}`,
    `--advertise-client-urls=https://${host("$(POD_NAME)")}:${ETCD_CLIENT_PORT}`,
    `--listen-peer-urls=https://${podAddress}:${ETCD_PEER_PORT}`,
    `--initial-advertise-peer-urls=https://${host("$(POD_NAME)")}:${ETCD_PEER_PORT}`,
    `--initial-cluster=${peers.map((name) => `${name}=https://${host(name)}:${ETCD_PEER_PORT}`).join(",")}`,
    `--initial-cluster-state=${joins ? "existing" : "new"}`,
    "--client-cert-auth=true",
    `--trusted-ca-file=${PKI}/ca.crt`,
    `--cert-file=${PKI}/server.crt`,
    `--key-file=${PKI}/server.key`,
    "--peer-client-cert-auth=true",
    `--peer-trusted-ca-file=${PKI}/ca.crt`,
    `--peer-cert-file=${PKI}/server.crt`,
    `--peer-key-file=${PKI}/server.key`,
    `--listen-metrics-urls=http://${podAddress}:${METRICS_PORT}`,
    `--quota-backend-bytes=${quotaBytes}`,
    "--snapshot-count=10000",
    // After 4.5 to 10 minutes a revision is gone, as clients of Kubernetes expect of tokens that continue lists.
    ...(shared
      ? ["--auto-compaction-mode=periodic", "--auto-compaction-retention=4m30s"]
      : ["--auto-compaction-retention=0"]),
    "--log-level=warn",
  ];
}
