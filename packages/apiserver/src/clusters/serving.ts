import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { InputError, issueCertificate, messageOf, type Clock, type KeyPair, type Log } from "@causeway/foundation";
import type { ServingFiles } from "../interface.ts";
import type { Cluster } from "../contract/cluster.ts";
import { serviceNetworks } from "../kinds/core/addresses.ts";

const DAY = 86_400_000;
const YEAR = 365 * DAY;
/** How long before its end a certificate is replaced. */
const RENEWAL = 30 * DAY;
const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

/** What a listener shows of itself. */
export interface ServingCertificate {
  readonly certificate: KeyPair;
  /** PEM: whom clients trust for it. */
  readonly authority: string;
}

/** What a serving certificate is made of. */
export type Identified = Pick<Cluster, "servingRoot" | "trustedRoots" | "dnsDomain" | "serviceCidr" | "clock">;

/** A certificate of the cluster's own authority for its names and addresses, for a year. */
export async function issueServing(
  { servingRoot, trustedRoots, dnsDomain, serviceCidr, clock }: Identified,
  names: readonly string[],
): Promise<ServingCertificate> {
  const unique = [...new Set([...names, ...clusterNames(dnsDomain, serviceCidr)])];
  const isAddress = (name: string): boolean => /^[\d.]+$/.test(name) || name.includes(":");
  const certificate = await issueCertificate(servingRoot, {
    commonName: "kube-apiserver",
    dnsNames: unique.filter((n) => !isAddress(n)),
    ipAddresses: unique.filter(isAddress),
    usages: ["server"],
    lifetime: YEAR,
    now: clock.now(),
  });
  return { certificate, authority: trustedRoots };
}

function clusterNames(domain: string, serviceCidr: string): string[] {
  const service = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", `kubernetes.default.svc.${domain}`];
  return [...service, ...serviceNetworks(serviceCidr).map((n) => n.address(1)), ...LOOPBACK];
}

/** Warns about a certificate that is not valid now: clients will refuse it. Throws SERVING_CERTIFICATE_INVALID. */
export function readServing(files: ServingFiles, { clock, log }: { clock: Clock; log: Log }): ServingCertificate {
  const { certificateFile, keyFile, authorityFile } = files;
  try {
    const certificate = readFilled(certificateFile);
    const key = readFilled(keyFile);
    const authority = readFilled(authorityFile);
    const parsed = new X509Certificate(certificate);
    if (!parsed.checkPrivateKey(createPrivateKey(key))) throw new Error(`${keyFile} is not the certificate's key`);
    warnOfDates(parsed, { file: certificateFile, clock, log });
    return { certificate: { certificate, key }, authority };
  } catch (cause) {
    throw new InputError(
      "SERVING_CERTIFICATE_INVALID",
      `the certificate in ${certificateFile} cannot be served: ${messageOf(cause)}`,
      { cause, hint: "Specify PEM files: a certificate, the key it was made for, and the authority that signed it." },
    );
  }
}

function readFilled(file: string): string {
  const content = readFileSync(file, "utf8");
  if (content.trim() === "") throw new Error(`${file} is empty`);
  return content;
}

function warnOfDates(
  { validFromDate, validToDate }: X509Certificate,
  { file, clock, log }: { file: string; clock: Clock; log: Log },
): void {
  const now = clock.now();
  const [from, to] = [validFromDate.toISOString(), validToDate.toISOString()];
  if (now > validToDate.getTime())
    log.warn("the serving certificate has expired; clients refuse it", { file, end: to });
  else if (now < validFromDate.getTime())
    log.warn("the serving certificate is not valid yet; clients refuse it", { file, begin: from });
}

/** Puts a new certificate in the place of one that is about to end, again and again until the signal aborts. */
export async function renewInTime(
  first: KeyPair,
  { clock, signal, renew }: { clock: Clock; signal: AbortSignal; renew: () => Promise<KeyPair> },
): Promise<void> {
  for (let current = first; ; current = await renew()) {
    const end = new X509Certificate(current.certificate).validToDate.getTime();
    await clock.sleep(Math.max(end - RENEWAL - clock.now(), DAY), signal);
  }
}
