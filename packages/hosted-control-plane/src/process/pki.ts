import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import {
  createAuthority,
  formatIp,
  issueCertificate,
  nthAddress,
  parseCidr,
  type CertificateSubject,
  type KeyPair,
} from "@causeway/foundation";
import { renderKubeconfig } from "@causeway/kubernetes";
import { accountKeys, servingRoot, trustedBy, type ControlPlaneSpec } from "../runtime.ts";
import { hostInUrl } from "./commands.ts";
import { etcdAuthority } from "./etcd-authority.ts";
import type { Ports } from "./ports.ts";

const YEAR = 365 * 24 * 3600_000;
/** Certificates are written again at half their life; the programs read them again by themselves. */
export const renewAfter = YEAR / 2;

/** Writes every certificate, key and kubeconfig that the programs of one control plane need into `dir`. */
export async function writePki(dir: string, spec: ControlPlaneSpec, ports: Ports, now: number): Promise<void> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const write = (name: string, text: string): void => {
    const file = join(dir, name);
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  const pair = (name: string, { certificate, key }: KeyPair): void => {
    write(`${name}.crt`, certificate);
    write(`${name}.key`, key);
  };
  const issue = (authority: KeyPair, subject: CertificateSubject, usages: readonly ("client" | "server")[]) =>
    issueCertificate(authority, { ...subject, usages, lifetime: YEAR, now });
  const { authority } = spec;
  const frontProxy =
    spec.frontProxy ?? (await createAuthority({ commonName: "front-proxy-ca", lifetime: YEAR * 10, now }));
  const local = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };
  // What is trusted, and apart from it what signs: a signer's file has one certificate only.
  write("ca.crt", trustedBy(spec));
  write("ca.key", authority.key);
  write("signing-ca.crt", authority.certificate);
  write("front-proxy-ca.crt", frontProxy.certificate);
  pair("front-proxy-client", await issue(frontProxy, { commonName: "front-proxy-client" }, ["client"]));
  const joined = spec.join?.certificates;
  if (joined) {
    write("etcd-ca.crt", joined.authority);
    pair("etcd-server", joined.server);
    pair("etcd-client", joined.client);
  } else if (spec.join === undefined) {
    const etcd = await etcdAuthority(dir, spec, now);
    pair("etcd-ca", etcd);
    pair("etcd-server", await issue(etcd, { commonName: "etcd", ...local }, ["server", "client"]));
    pair("etcd-client", await issue(etcd, { commonName: "kube-apiserver-etcd-client" }, ["client"]));
  }
  pair("apiserver", await issue(servingRoot(spec), serving(spec), ["server"]));
  const masters = { organizations: ["system:masters"] };
  pair(
    "kubelet-client",
    await issue(servingRoot(spec), { commonName: "kube-apiserver-kubelet-client", ...masters }, ["client"]),
  );
  write("sa.key", spec.serviceAccountKey);
  write("sa.pub", accountKeys(spec));
  // Behind an endpoint of another's, controllers reach the API where it listens for it.
  const host = spec.join === undefined ? addressOf(spec) : hostInUrl(spec.join.peerHost);
  for (const program of ["controller-manager", "scheduler"]) {
    const client = await issue(authority, { commonName: `system:kube-${program}` }, ["client"]);
    const kubeconfig = {
      server: `https://${host}:${ports.api}`,
      ca: trustedBy(spec),
      certificate: client.certificate,
      key: client.key,
      clusterName: "kubernetes",
      userName: `system:kube-${program}`,
    };
    write(`${program}.conf`, renderKubeconfig(kubeconfig));
  }
}

function serving({ endpoint, names, serviceCidr, dnsDomain, join: joined }: ControlPlaneSpec): CertificateSubject {
  const cidr = parseCidr(serviceCidr);
  const first = cidr && nthAddress(cidr, 1);
  const all = [...new Set([endpoint.host, ...names, ...(joined ? [joined.peerHost] : [])])];
  const service = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", `kubernetes.default.svc.${dnsDomain}`];
  const ipAddresses = ["127.0.0.1", ...(first ? [formatIp(first)] : []), ...all.filter((name) => isIP(name) !== 0)];
  return {
    commonName: "kube-apiserver",
    dnsNames: [...service, "localhost", ...all.filter((name) => isIP(name) === 0)],
    ipAddresses: [...new Set(ipAddresses)],
  };
}

/** The address of the API in a URL. */
export function addressOf({ endpoint: { host } }: ControlPlaneSpec): string {
  return host.includes(":") ? `[${host}]` : host;
}
