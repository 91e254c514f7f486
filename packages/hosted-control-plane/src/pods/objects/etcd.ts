import type { KubeObject, Service, StatefulSet } from "@causeway/kubernetes";
import type { Images } from "../images.ts";
import type { PodsSpec } from "../options.ts";
import type { Size } from "../sizes.ts";
import { podAddress, podTemplate } from "./pod.ts";
import { labelsOf, namedMeta, selectorOf } from "./meta.ts";

/** What an etcd is made from: one of a control plane, or the shared one. */
export interface EtcdFrom {
  readonly namespace: string;
  readonly version: string;
  readonly images: Images;
  readonly size: Size;
  readonly datastore: NonNullable<PodsSpec["datastore"]>;
  readonly running: boolean;
  readonly quotaBytes: number;
  readonly credentials: string;
  /** It compacts itself: no API server of a prefix may. */
  readonly shared?: boolean;
}

/** For API servers, and for this program. */
export const ETCD_CLIENT_PORT = 2379;
/** For the other members. */
export const ETCD_PEER_PORT = 2380;
const METRICS_PORT = 2381;
const PKI = "/etc/etcd/pki";

/** The control plane's own etcd: a StatefulSet whose members know each other by the names of a headless Service. */
export function etcdObjects(from: EtcdFrom): KubeObject[] {
  return [service(from), statefulSet(from)];
}

/** 3 where three are requested, else 1. */
export function etcdMembers(datastore: PodsSpec["datastore"]): number {
  return datastore?.members === 3 ? 3 : 1;
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
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: namedMeta(namespace, "etcd", "etcd"),
    spec: {
      serviceName: "etcd",
      replicas: running ? members : 0,
      // A member that waits for the others to start must not keep them from starting.
      podManagementPolicy: "Parallel",
      selector: selectorOf("etcd"),
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" },
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
        image: from.images.etcd,
        command: command(from, members),
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

/** The pod's name is the member's name. */
function command({ namespace, quotaBytes, shared = false }: EtcdFrom, members: number): string[] {
  const host = (name: string) => `${name}.etcd.${namespace}.svc`;
  const peers = Array.from({ length: members }, (_, index) => `etcd-${index}`);
  return [
    "etcd",
    "--name=$(POD_NAME)",
    "--data-dir=/var/lib/etcd/data",
    `--listen-client-urls=https://${podAddress}:${ETCD_CLIENT_PORT}`,
    `--advertise-client-urls=https://${host("$(POD_NAME)")}:${ETCD_CLIENT_PORT}`,
    `--listen-peer-urls=https://${podAddress}:${ETCD_PEER_PORT}`,
    `--initial-advertise-peer-urls=https://${host("$(POD_NAME)")}:${ETCD_PEER_PORT}`,
    `--initial-cluster=${peers.map((name) => `${name}=https://${host(name)}:${ETCD_PEER_PORT}`).join(",")}`,
    "--initial-cluster-state=new",
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
    ...(shared
      ? ["--auto-compaction-mode=periodic", "--auto-compaction-retention=5m"]
      : ["--auto-compaction-retention=0"]),
    "--log-level=warn",
  ];
}
