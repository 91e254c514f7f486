import { createPrivateKey, X509Certificate } from "node:crypto";
import type { OpenStackDeployment } from "@causeway/api";
import { readCertificate, splitCertificates, verifyChain } from "@causeway/foundation";
import { secretText, type KubeObject, type Secret } from "@causeway/kubernetes";
import { CLUSTER_DOMAIN, tlsPortOf, type TlsMaterial } from "../config/index.ts";
import type { Component } from "../model/component.ts";
import { labels } from "../model/names.ts";
import { metadataOf, objectName } from "../render/context.ts";
import { apiCertificate } from "../render/tls.ts";
import { Certificate } from "../render/optional-types.ts";
import { stamped } from "../render/stamp.ts";
import { differs } from "./difference.ts";
import { idOf, type Observed } from "./gather.ts";
import { CERTIFICATE_DAYS, renewCertificate } from "./rotation.ts";
import type { Step } from "./steps.ts";

/** The certificates of the APIs, by who issues them. Pure. */
export interface TlsPlan {
  readonly steps: readonly Step[];
  /** When one has to be renewed. */
  readonly next?: number;
  /** Undefined: the APIs have no TLS, or a certificate is missing. */
  readonly material?: TlsMaterial;
  /** Objects of ours that it consists of. */
  readonly objects: readonly KubeObject[];
  /** What an administrator has to do before anything else is done. */
  readonly refusal?: string;
  /** Who has to write what is missing. */
  readonly waitsFor?: string;
}

const NONE: TlsPlan = { steps: [], objects: [] };

/** The certificates as `spec.tls.from` says: own ones, those of a Secret, or cert-manager's. */
export function planTls(observed: Observed, components: readonly Component[], now: number): TlsPlan {
  const { tls } = observed.deployment.spec;
  if (!tls) return NONE;
  const servers = components.filter((component) => tlsPortOf(component));
  if (tls.from === "Own") return ownCertificates(observed, servers, now);
  if (tls.from === "Secret") return givenCertificate(observed, servers, { name: tls.name ?? "", now });
  return issuedCertificates(observed, servers, { kind: tls.from, name: tls.name ?? "" });
}

/** Every name by which an API is called: of its Service inside the cluster, and of its public endpoint. */
export function hostsOf({ metadata, spec }: OpenStackDeployment, component: Component): string[] {
  const service = `${objectName(metadata.name, component.name)}.${metadata.namespace ?? ""}.svc`;
  const domain = spec.network?.clusterDomain ?? CLUSTER_DOMAIN;
  const { publicName = "" } = tlsPortOf(component) ?? {};
  return [service, `${service}.${domain}`, `${publicName}.${spec.domain}`];
}

const secretOf = ({ objects }: Observed, name: string) => objects.get(`Secret/${name}`) as Secret | undefined;

const pairOf = (secret: Secret | undefined) => {
  const [certificate, key] = [secretText(secret, "tls.crt"), secretText(secret, "tls.key")];
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
};

/** The certificates of these Secrets, and all authorities that are named in them. */
function materialOf(servers: readonly Component[], secretFor: (component: Component) => Secret | undefined) {
  const found = servers.map((component) => [component, secretFor(component)] as const);
  const bundles = found.flatMap(([, secret]) => splitCertificates(secretText(secret, "ca.crt") ?? ""));
  return {
    authorities: [...new Set(bundles)]
      .toSorted()
      .map((each) => `${each}\n`)
      .join(""),
    pairs: Object.fromEntries(found.map(([{ name }, secret]) => [name, pairOf(secret)])),
  };
}

function ownCertificates(observed: Observed, servers: readonly Component[], now: number): TlsPlan {
  const { metadata, spec } = observed.deployment;
  const secretFor = ({ name }: Component) => secretOf(observed, apiCertificate(metadata.name, name));
  const renewals = servers.map((component) =>
    renewCertificate(spec, {
      secret: secretFor(component),
      name: apiCertificate(metadata.name, component.name),
      hosts: hostsOf(observed.deployment, component),
      now,
    }),
  );
  const steps = renewals.flatMap((renewal) => renewal.steps);
  const times = renewals.map(({ next }) => next).filter((time) => time !== undefined);
  return {
    steps,
    objects: [],
    ...(times.length === 0 ? {} : { next: Math.min(...times) }),
    ...(steps.length > 0 ? {} : { material: materialOf(servers, secretFor) }),
  };
}

/** One certificate of the administrator, for all APIs. */
function givenCertificate(
  observed: Observed,
  servers: readonly Component[],
  { name, now }: { readonly name: string; readonly now: number },
): TlsPlan {
  const { metadata } = observed.deployment;
  const secret = secretOf(observed, name);
  if (!secret) {
    const label = `${labels.deployment}=${metadata.name}`;
    const refusal = `spec.tls: Secret ${name} is missing, or lacks the label by which the operator reads it: kubectl -n ${metadata.namespace} label secret ${name} ${label}`;
    return { ...NONE, refusal };
  }
  const hosts = [...new Set(servers.flatMap((component) => hostsOf(observed.deployment, component)))];
  const problem = problemOf(secret, hosts, now);
  if (problem !== undefined) return { ...NONE, refusal: `spec.tls: Secret ${name}: ${problem}` };
  return { ...NONE, material: materialOf(servers, () => secret) };
}

/** Why clients would refuse the certificate of a Secret. */
function problemOf(secret: Secret, hosts: readonly string[], now: number): string | undefined {
  const [pair, authorities] = [pairOf(secret), splitCertificates(secretText(secret, "ca.crt") ?? "")];
  if (!pair) return "it has no tls.crt, or no tls.key";
  if (authorities.length === 0) return "it has no ca.crt with the authority that clients are to trust";
  try {
    const chain = splitCertificates(pair.certificate);
    const { dnsNames, notAfter } = readCertificate(chain[0] ?? pair.certificate);
    if (notAfter <= now) return `its certificate ended on ${new Date(notAfter).toISOString()}; put a new one there`;
    const missing = hosts.filter((host) => !dnsNames.some((name) => covers(name, host)));
    if (missing.length > 0)
      return `its certificate lacks ${missing.length} names, such as ${missing.slice(0, 3).join(", ")}`;
    if (!new X509Certificate(pair.certificate).checkPrivateKey(createPrivateKey(pair.key)))
      return "tls.key is not the key of tls.crt";
    const isSigned = chain.some((each) => authorities.some((authority) => verifyChain(each, authority)));
    return isSigned ? undefined : "no authority of ca.crt signed its certificate, nor one of its chain";
  } catch {
    return "its certificate, authority or key cannot be read; they are PEM";
  }
}

/** RFC 6125: a wildcard represents one whole label, the first. */
export const covers = (name: string, host: string): boolean =>
  name === host || (name.startsWith("*.") && host.slice(host.indexOf(".")) === name.slice(1));

/** Certificates that cert-manager writes and renews. */
function issuedCertificates(
  observed: Observed,
  servers: readonly Component[],
  issuer: { readonly kind: string; readonly name: string },
): TlsPlan {
  if (!observed.served.has(Certificate.kind)) {
    const refusal = `spec.tls.from is ${issuer.kind}, and cert-manager is not installed: the cluster has no CRD certificates.cert-manager.io. Install it, or create the deployment with from: Own`;
    return { ...NONE, refusal };
  }
  const { name } = observed.deployment.metadata;
  const objects = servers.map((component) => certificateOf(observed, component, issuer));
  const steps = objects
    .filter((object) => differs(object, observed.objects.get(idOf(object))))
    .map((object): Step => ({ type: "apply", name: idOf(object), object }));
  const secretFor = (component: Component) => secretOf(observed, apiCertificate(name, component.name));
  const missing = servers.filter(
    (component) => !pairOf(secretFor(component)) || !secretText(secretFor(component), "ca.crt"),
  );
  const [first] = missing;
  if (!first) return { steps, objects, material: materialOf(servers, secretFor) };
  const certificate = apiCertificate(name, first.name);
  const found = observed.objects.get(`Certificate/${certificate}`) as Certificate | undefined;
  const said = found?.status?.conditions?.find(({ type }) => type === "Ready")?.message;
  const waitsFor = `cert-manager has not written ${missing.length} of ${servers.length} Secrets, such as ${certificate}${said ? `: ${said}` : ""}. It needs an issuer that gives its authority as ca.crt: kubectl describe certificate ${certificate}`;
  return { steps, objects, waitsFor };
}

function certificateOf(observed: Observed, component: Component, issuer: { kind: string; name: string }): Certificate {
  const { deployment } = observed;
  const { name } = deployment.metadata;
  const days = deployment.spec.rotation?.certificateDays ?? CERTIFICATE_DAYS;
  return stamped({
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: metadataOf(observed, apiCertificate(name, component.name), { component }),
    spec: {
      secretName: apiCertificate(name, component.name),
      // By it the operator reads the Secret.
      secretTemplate: { labels: { [labels.deployment]: name } },
      dnsNames: hostsOf(deployment, component),
      duration: `${days * 24}h0m0s`,
      usages: ["digital signature", "key encipherment", "server auth"],
      privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
      issuerRef: { group: "cert-manager.io", ...issuer },
    },
  });
}
