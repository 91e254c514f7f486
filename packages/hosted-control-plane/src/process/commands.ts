import { isIP } from "node:net";
import { join } from "node:path";
import { flagArgs, withFlags } from "../flags.ts";
import type { ControlPlaneSpec } from "../runtime.ts";
import type { ChildCommand } from "./child.ts";
import type { Ports } from "./ports.ts";
import { auditLogArgs } from "../audit-log.ts";
import { auditSinkArgs } from "../audit-sink.ts";

/** What the command lines are made from. */
export interface CommandsFrom {
  readonly spec: ControlPlaneSpec;
  readonly ports: Ports;
  /** Folder of the programs. */
  readonly programs: string;
  /** Folder of the control plane. */
  readonly dir: string;
  /** The address that the API listens on. */
  readonly listen: string;
  /** Where the configuration of the tunnel is; undefined: there is no tunnel. */
  readonly egress: string | undefined;
  /** Where the configuration of encryption at rest is; undefined: its etcd is another's, too, who must read it. */
  readonly encryption: string | undefined;
  /** The kubeconfig of the webhook for tokens; undefined: there is none. */
  readonly tokenWebhook: string | undefined;
  /** The configuration of OIDC issuers; undefined: there is none. */
  readonly issuers: string | undefined;
  /** The kubeconfig of the tenant's sink of audit events; undefined: there is none. */
  readonly auditSink: string | undefined;
}

/** The programs of one control plane, in the order in which they are started. */
export interface Commands {
  readonly etcd: ChildCommand;
  readonly api: ChildCommand;
  readonly controllers: readonly ChildCommand[];
}

/** The command lines of the programs of one control plane, as kubeadm has them where it has a choice. */
export function commandsOf(from: CommandsFrom): Commands {
  const { programs } = from;
  const command = (name: string, args: readonly string[], grace: number): ChildCommand => ({
    name,
    program: join(programs, name),
    args,
    grace,
  });
  return {
    etcd: command("etcd", etcdArgs(from), 10_000),
    api: command("kube-apiserver", apiArgs(from), 20_000),
    controllers: [
      command("kube-controller-manager", controllerManagerArgs(from), 5_000),
      command("kube-scheduler", schedulerArgs(from), 5_000),
    ],
  };
}

function etcdArgs({ dir, ports, spec }: CommandsFrom): string[] {
  const pki = (name: string): string => join(dir, "pki", name);
  const client = `https://127.0.0.1:${ports.etcd}`;
  const { name, cluster, state, host } = membership(spec);
  const peer = `https://${host}:${ports.peer}`;
  return [
    `--name=${name}`,
    `--data-dir=${join(dir, "etcd")}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=${[...cluster, `${name}=${peer}`].join(",")}`,
    ...state,
    "--client-cert-auth=true",
    `--trusted-ca-file=${pki("etcd-ca.crt")}`,
    `--cert-file=${pki("etcd-server.crt")}`,
    `--key-file=${pki("etcd-server.key")}`,
    "--peer-client-cert-auth=true",
    `--peer-trusted-ca-file=${pki("etcd-ca.crt")}`,
    `--peer-cert-file=${pki("etcd-server.crt")}`,
    `--peer-key-file=${pki("etcd-server.key")}`,
    `--quota-backend-bytes=${spec.limits.bytes}`,
    "--auto-compaction-retention=0",
    "--snapshot-count=10000",
    "--log-level=warn",
  ];
}

/** Flags that only the first start of etcd reads. A member of another etcd has a name that none of the others has. */
function membership({ join, id }: ControlPlaneSpec) {
  if (join === undefined) return { name: "default", cluster: [], state: [], host: "127.0.0.1" };
  return {
    name: `hosted-${id}`,
    cluster: join.members.map((member) => `${member.name}=${member.peerURL}`),
    state: ["--initial-cluster-state=existing"],
    host: hostInUrl(join.peerHost),
  };
}

/** `[2001:db8::1]` for an IPv6 address, other hosts as they are. */
export const hostInUrl = (host: string): string => (host.includes(":") ? `[${host}]` : host);

function apiArgs(from: CommandsFrom): string[] {
  return withFlags(ownApiArgs(from), flagArgs("apiServer", from.spec.flags));
}

function ownApiArgs({
  dir,
  ports,
  spec,
  listen,
  egress,
  encryption,
  tokenWebhook,
  issuers,
  auditSink,
}: CommandsFrom): string[] {
  const pki = (name: string): string => join(dir, "pki", name);
  const issuer = `https://kubernetes.default.svc.${spec.dnsDomain}`;
  const { host } = spec.endpoint;
  return [
    `--bind-address=${listen}`,
    `--secure-port=${ports.api}`,
    ...(isIP(host) === 0 ? [] : [`--advertise-address=${host}`]),
    "--allow-privileged=true",
    "--anonymous-auth=true",
    ...auditLogArgs(join(dir, "run", "audit.log")),
    ...(auditSink === undefined ? [] : auditSinkArgs(auditSink)),
    `--audit-policy-file=${join(dir, "audit-policy.json")}`,
    ...(tokenWebhook === undefined
      ? []
      : [
          `--authentication-token-webhook-config-file=${tokenWebhook}`,
          "--authentication-token-webhook-version=v1",
          "--authentication-token-webhook-cache-ttl=10s",
        ]),
    ...(issuers === undefined ? [] : [`--authentication-config=${issuers}`]),
    "--authorization-mode=Node,RBAC",
    `--client-ca-file=${pki("ca.crt")}`,
    "--enable-admission-plugins=NodeRestriction",
    "--enable-bootstrap-token-auth=true",
    ...(encryption === undefined ? [] : [`--encryption-provider-config=${encryption}`]),
    `--etcd-servers=https://127.0.0.1:${ports.etcd}`,
    `--etcd-cafile=${pki("etcd-ca.crt")}`,
    `--etcd-certfile=${pki("etcd-client.crt")}`,
    `--etcd-keyfile=${pki("etcd-client.key")}`,
    `--kubelet-client-certificate=${pki("kubelet-client.crt")}`,
    `--kubelet-client-key=${pki("kubelet-client.key")}`,
    "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
    "--profiling=false",
    `--proxy-client-cert-file=${pki("front-proxy-client.crt")}`,
    `--proxy-client-key-file=${pki("front-proxy-client.key")}`,
    "--requestheader-allowed-names=front-proxy-client",
    `--requestheader-client-ca-file=${pki("front-proxy-ca.crt")}`,
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-username-headers=X-Remote-User",
    `--service-account-issuer=${issuer}`,
    `--service-account-key-file=${pki("sa.pub")}`,
    `--service-account-signing-key-file=${pki("sa.key")}`,
    `--service-cluster-ip-range=${spec.serviceCidr}`,
    `--tls-cert-file=${pki("apiserver.crt")}`,
    `--tls-private-key-file=${pki("apiserver.key")}`,
    // No kube-proxy of the cluster runs here: without a tunnel, addresses of Services lead nowhere, those of pods may.
    ...(egress === undefined ? ["--enable-aggregator-routing=true"] : [`--egress-selector-config-file=${egress}`]),
    // It would publish the port that it listens on, which is not the endpoint's.
    ...(spec.join === undefined ? [] : ["--endpoint-reconciler-type=none"]),
  ];
}

function controllerManagerArgs({ dir, spec }: CommandsFrom): string[] {
  const pki = (name: string): string => join(dir, "pki", name);
  return [
    ...clientArgs(pki("controller-manager.conf"), spec),
    `--cluster-signing-cert-file=${pki("signing-ca.crt")}`,
    `--cluster-signing-key-file=${pki("ca.key")}`,
    "--controllers=*,bootstrapsigner,tokencleaner",
    `--root-ca-file=${pki("ca.crt")}`,
    `--service-account-private-key-file=${pki("sa.key")}`,
    `--service-cluster-ip-range=${spec.serviceCidr}`,
    "--use-service-account-credentials=true",
    ...(spec.podCidr === undefined ? [] : ["--allocate-node-cidrs=true", `--cluster-cidr=${spec.podCidr}`]),
    ...flagArgs("controllerManager", spec.flags),
  ];
}

function schedulerArgs({ dir, spec }: CommandsFrom): string[] {
  return clientArgs(join(dir, "pki", "scheduler.conf"), spec);
}

/**
 * There is one of each program, so that no election is needed unless the etcd is another's, too; and nothing asks their
 * ports.
 */
function clientArgs(kubeconfig: string, spec: ControlPlaneSpec): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--leader-elect=${spec.join !== undefined}`,
    "--secure-port=0",
    "--profiling=false",
  ];
}

/** The configuration with which kube-apiserver reaches nodes and pods through the tunnel's socket. */
export function egressSelector(socket: string): string {
  const connection = { proxyProtocol: "HTTPConnect", transport: { uds: { udsName: socket } } };
  const config = {
    apiVersion: "apiserver.k8s.io/v1beta1",
    kind: "EgressSelectorConfiguration",
    egressSelections: [{ name: "cluster", connection }],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
